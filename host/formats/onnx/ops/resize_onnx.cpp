// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample.
#include <cmath>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

struct ResizeRule {
  std::string mode;  // IR's word
  std::string coordinates;
  std::string nearest;
  double cube_coeff = -0.75;
  bool antialias = false;
  bool is_scaled = true;
  PortRef target;  // sizes (i64) or scales (f32)
  std::optional<PortRef> axes;
};

RawAttributes attributes_of(const ResizeRule& rule) {
  return {{"mode", rule.mode},
          {"shape_calculation_mode", rule.is_scaled ? "scales" : "sizes"},
          {"coordinate_transformation_mode", rule.coordinates},
          {"nearest_mode", rule.nearest},
          {"antialias", text(rule.antialias)},
          {"cube_coeff", text(rule.cube_coeff)},
          {"pads_begin", "0"},
          {"pads_end", "0"}};
}

PortRef emit(OnnxContext& c, const ResizeRule& rule) {
  std::vector<PortRef> inputs = {c.input(0), rule.target};
  if (rule.axes) inputs.push_back(*rule.axes);
  return c.add("Interpolate", 11, inputs, attributes_of(rule));
}

std::string ir_mode(const OnnxContext& c, const std::string& mode) {
  if (mode == "nearest") return mode;
  if (mode == "linear" || mode == "bilinear") return "linear_onnx";
  if (mode == "cubic") return mode;
  c.refuse("mode '" + mode + "'");
}

// Only scales, counted from the left edge: places are x / scale, rounded down.
std::vector<PortRef> convert_upsample(OnnxContext& c) {
  ResizeRule rule;
  rule.mode = ir_mode(c, c.attr_string("mode", "nearest"));
  rule.coordinates = "asymmetric";
  rule.nearest = "floor";
  if (c.opset() < 9) {
    const std::vector<float> scales = c.attr_floats("scales");
    if (scales.empty()) c.refuse("opset " + text(c.opset()) + " of it");
    rule.target = c.constant_floats(scales);
  } else {
    rule.target = c.input(1);
  }
  return {emit(c, rule)};
}

bool is_empty(const OnnxContext& c, PortRef x) { return c.static_shape(x) == Shape{0}; }

// keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest.
void keep_aspect_ratio(OnnxContext& c, ResizeRule& rule) {
  const std::string policy = c.attr_string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || rule.is_scaled) return;
  if (policy != "not_larger" && policy != "not_smaller") fail(ErrorCode::kBadModel, "policy '" + policy + "'");
  const ElementType f32 = ElementType::f32;
  PortRef sizes = c.shape_of(c.input(0));
  if (rule.axes) sizes = c.gather(sizes, *rule.axes, 0);
  const PortRef from = c.convert(sizes, f32);
  const PortRef ratios = c.binary("Divide", c.convert(rule.target, f32), from);
  const PortRef ratio = c.reduce(policy == "not_larger" ? "ReduceMin" : "ReduceMax", ratios, {0}, true);
  const PortRef wanted = c.add("Round", 5, {c.binary("Multiply", from, ratio)}, {{"mode", "half_away_from_zero"}});
  rule.target = c.convert(wanted, ElementType::i64);
}

// Where scale * size is no whole number, ONNX Runtime counts corners in the size that is rounded down, ONNX's own test
// data in the product.
void check_align_corners(OnnxContext& c, const ResizeRule& rule) {
  if (rule.coordinates != "align_corners" || !rule.is_scaled || rule.mode == "nearest") return;
  const auto scales = c.value(rule.target);
  if (!scales) c.refuse("align_corners with scales that are computed in the run (give sizes)");
  const std::vector<double> values = to_doubles(*scales);
  for (std::size_t i = 0; i < values.size() && !rule.axes; ++i) {
    const auto size = c.static_dim(c.input(0), i);
    const double product = values[i] * static_cast<double>(size.value_or(1));
    if (size && std::abs(product - std::round(product)) > 1e-3) {
      c.refuse("align_corners with a scale of " + std::to_string(values[i]) + " for a dimension of " + text(*size) +
               ", where readings differ (give sizes)");
    }
  }
}

std::vector<PortRef> convert_resize(OnnxContext& c) {
  ResizeRule rule;
  rule.mode = ir_mode(c, c.attr_string("mode", "nearest"));
  const bool is_first = c.opset() < 11;  // opset 10: inputs x and scales alone
  rule.coordinates = is_first ? "asymmetric" : c.attr_string("coordinate_transformation_mode", "half_pixel");
  rule.nearest = is_first ? "floor" : c.attr_string("nearest_mode", "round_prefer_floor");
  rule.cube_coeff = c.attr_float("cubic_coeff_a", -0.75);
  rule.antialias = c.attr_int("antialias", 0) != 0;
  if (rule.coordinates == "tf_half_pixel_for_nn" || rule.coordinates == "half_pixel" ||
      rule.coordinates == "pytorch_half_pixel" || rule.coordinates == "asymmetric" ||
      rule.coordinates == "align_corners") {
    if (c.attr_int("exclude_outside", 0) != 0 && rule.mode == "cubic") c.refuse("exclude_outside");
  } else {
    c.refuse("coordinate_transformation_mode '" + rule.coordinates + "'");
  }
  const std::size_t scales = is_first ? 1 : 2;
  rule.is_scaled = c.has_input(scales) && !is_empty(c, c.input(scales));
  if (rule.is_scaled) {
    rule.target = c.input(scales);
  } else if (!is_first && c.has_input(3)) {
    rule.target = c.convert(c.input(3), ElementType::i64);
  } else {
    fail(ErrorCode::kBadModel, "has neither scales nor sizes");
  }
  if (const auto axes = c.attr_ints("axes")) rule.axes = c.constant_ints(*axes);
  keep_aspect_ratio(c, rule);
  check_align_corners(c, rule);
  return {emit(c, rule)};
}

constexpr OnnxConverter kConverters[] = {
    {"Resize", convert_resize},
    {"Upsample", convert_upsample},
};

}  // namespace

std::span<const OnnxConverter> resize_onnx() { return kConverters; }

}  // namespace headrace::detail
