// SPDX-License-Identifier: Apache-2.0
// Operators of detectors and of resampling at given places.
#include <limits>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_grid_sample(OnnxContext& c) {
  std::string mode = c.attr_string("mode", "bilinear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  return {c.add("GridSample", 9, {c.input(0), c.input(1)},
                {{"align_corners", text(c.attr_int("align_corners", 0) != 0)},
                 {"mode", mode},
                 {"padding_mode", c.attr_string("padding_mode", "zeros")}})};
}

std::vector<PortRef> convert_roi_align(OnnxContext& c) {
  // Up to opset 15 boxes were taken as they are; then half a pixel is subtracted unless it says otherwise.
  // IR calls half a pixel taken off behind the scale "for nn".
  const std::string half =
      c.attr_string("coordinate_transformation_mode", c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  return {c.add("ROIAlign", 9, {c.input(0), c.input(1), c.convert(c.input(2), ElementType::i32)},
                {{"pooled_h", text(c.attr_int("output_height", 1))},
                 {"pooled_w", text(c.attr_int("output_width", 1))},
                 {"sampling_ratio", text(c.attr_int("sampling_ratio", 0))},
                 {"spatial_scale", text(c.attr_float("spatial_scale", 1))},
                 {"mode", c.attr_string("mode", "avg")},
                 {"aligned_mode", half == "half_pixel" ? "half_pixel_for_nn" : "asymmetric"}})};
}

std::vector<PortRef> convert_max_roi_pool(OnnxContext& c) {
  const Ints shape = c.attr_ints("pooled_shape").value_or(Ints{});
  if (shape.size() != 2) fail(ErrorCode::kBadModel, "pooled_shape is " + to_string(shape));
  return {c.add("ROIPooling", 2, {c.input(0), c.input(1)},
                {{"pooled_h", text(shape[0])},
                 {"pooled_w", text(shape[1])},
                 {"method", "max"},
                 {"spatial_scale", text(c.attr_float("spatial_scale", 1))}})};
}

// Boxes [N, boxes, 4], scores [N, classes, boxes]; the result lists [batch, class, box].
std::vector<PortRef> convert_nms(OnnxContext& c) {
  const auto scalar_or = [&](std::size_t input, double fallback, ElementType type) {
    if (!c.has_input(input)) return c.constant_scalar(fallback, type);
    const PortRef x = c.convert(c.input(input), type);
    return c.maybe_rank(x).value_or(0) == 0 ? x : c.reshape(x, {});
  };
  const PortRef nms =
      c.add("NonMaxSuppression", 9,
            {c.input(0), c.input(1), scalar_or(2, 0, ElementType::i64), scalar_or(3, 0, ElementType::f32),
             scalar_or(4, -std::numeric_limits<float>::infinity(), ElementType::f32)},
            {{"box_encoding", c.attr_int("center_point_box", 0) != 0 ? "center" : "corner"},
             {"sort_result_descending", "false"},
             {"output_type", "i64"}},
            3);
  // The third output counts the boxes; what stands behind them in the first one is padding.
  const PortRef count = c.reshape({nms.node, 2}, {1});
  return {c.add(
      "Slice", 8,
      {nms, c.constant_ints({0}), c.convert(count, ElementType::i64), c.constant_ints({1}), c.constant_ints({0})})};
}

constexpr OnnxConverter kConverters[] = {
    {"GridSample", convert_grid_sample},
    {"RoiAlign", convert_roi_align},
    {"MaxRoiPool", convert_max_roi_pool},
    {"NonMaxSuppression", convert_nms},
};

}  // namespace

std::span<const OnnxConverter> detection_onnx() { return kConverters; }

}  // namespace headrace::detail
