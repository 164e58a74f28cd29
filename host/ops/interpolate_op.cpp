// SPDX-License-Identifier: Apache-2.0
// Interpolate (opset 1, 4 and 11): resampling along any axes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "ops/interpolate_axes.hpp"
#include "ops/interpolate_kernels.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Interpolate"};

// Opset 1 in the words of opset 4.
void parse_first(const RawAttributes& raw, Attributes& attributes) {
  const std::string mode = parse_enum(raw, "mode", "nearest", {"nearest", "linear", "cubic", "area"});
  if (mode == "area") fail(ErrorCode::kUnsupported, "mode 'area' of Interpolate is not supported");
  attributes.set("mode", mode);
  attributes.set("axes", parse_ints(raw, "axes"));
  const bool aligns_corners = parse_bool(raw, "align_corners", true);
  attributes.set("align_corners", aligns_corners);  // for the IR writer: opset 1 knows no coordinate modes
  attributes.set("coordinate_transformation_mode", std::string(aligns_corners ? "align_corners" : "asymmetric"));
  attributes.set("nearest_mode", std::string("simple"));
  attributes.set("shape_calculation_mode", std::string("sizes"));
}

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("antialias", parse_bool(raw, "antialias", false));
  attributes.set("pads_begin", parse_ints(raw, "pads_begin", {}));
  attributes.set("pads_end", parse_ints(raw, "pads_end", {}));
  attributes.set("cube_coeff", parse_double(raw, "cube_coeff", -0.75));
  if (opset < 4) {
    parse_first(raw, attributes);
    return attributes;
  }
  std::vector<std::string_view> modes = {"nearest", "linear", "linear_onnx", "cubic"};
  if (opset >= 11) modes.insert(modes.end(), {"bilinear_pillow", "bicubic_pillow"});
  attributes.set("mode", parse_enum(raw, "mode", "nearest", modes));
  attributes.set("shape_calculation_mode", parse_enum(raw, "shape_calculation_mode", "sizes", {"sizes", "scales"}));
  attributes.set("coordinate_transformation_mode", parse_enum(raw, "coordinate_transformation_mode", "half_pixel",
                                                              {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                                               "tf_half_pixel_for_nn", "align_corners"}));
  attributes.set("nearest_mode", parse_enum(raw, "nearest_mode", "round_prefer_floor",
                                            {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}));
  return attributes;
}

std::int64_t pad_at(const Node& node, std::string_view name, std::size_t axis) {
  constexpr std::int64_t kMaxPad = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int64_t>& pads = node.attributes.get_ints(name);
  // Opset 1 writes a single 0 for "no pads"; shorter lists go on with zeros.
  const std::int64_t pad = axis < pads.size() ? pads[axis] : 0;
  if (pad < 0 || pad > kMaxPad) fail_node(node, "has the pad " + std::to_string(pad) + " in " + std::string(name));
  return pad;
}

// Where the inputs stand: opset 1 has sizes only; 4 has sizes, scales, axes; 11 has one of the two, then axes.
struct InputPlaces {
  std::size_t sizes = 1;
  std::size_t scales = 1;
  std::size_t axes = 2;
};

InputPlaces places_of(const Node& node) { return node.opset >= 11 ? InputPlaces{1, 1, 2} : InputPlaces{1, 2, 3}; }

std::vector<std::size_t> axes_of(const Node& node, std::size_t rank, const InputValues& values) {
  if (node.opset < 4) return normalize_axes(node, node.attributes.get_ints("axes"), rank);
  const std::size_t place = places_of(node).axes;
  if (has_input(values, place)) return normalize_axes(node, ints_at(values, place), rank);
  std::vector<std::size_t> all(rank);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

struct ResizedAxis {
  std::size_t axis = 0;
  InterpolateSize size;
};

InterpolateSize by_scale(const Node& node, InterpolateSize size, double scale) {
  constexpr double kRounding = 1e-5;  // a scale of 0.33333 of 3 still means 1
  const double output = std::floor(static_cast<double>(size.input) * (scale + kRounding));
  if (!(scale > 0) || output > static_cast<double>(std::numeric_limits<std::int32_t>::max())) {
    fail_node(node, "has the scale " + std::to_string(scale));
  }
  size.output = static_cast<std::int64_t>(output);
  const double ratio = static_cast<double>(size.output) / static_cast<double>(size.input);
  // A float that was meant as the ratio of the sizes stands for it exactly.
  size.scale = std::abs(ratio - scale) <= 1e-6 * scale ? ratio : scale;
  return size;
}

std::vector<double> scales_at(const InputValues& values, std::size_t place) {
  if (place >= values.size() || values[place] == nullptr) ints_at(values, place);  // throws
  return to_doubles(*values[place]);
}

// Axes in the operator's order, with sizes and scales.
std::vector<ResizedAxis> resized_axes(const Node& node, const Shape& shape, const InputValues& values) {
  const InputPlaces places = places_of(node);
  const bool is_scaled = node.attributes.get_string("shape_calculation_mode") == "scales";
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;
  if (is_scaled) {
    scales = scales_at(values, places.scales);
  } else {
    sizes = ints_at(values, places.sizes);
  }
  const std::vector<std::size_t> axes = axes_of(node, shape.size(), values);
  if (axes.size() != (is_scaled ? scales.size() : sizes.size())) {
    fail_node(node, "has " + std::to_string(is_scaled ? scales.size() : sizes.size()) + " sizes or scales for " +
                        std::to_string(axes.size()) + " axes");
  }
  std::vector<ResizedAxis> result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axes[i];
    const std::int64_t begin = pad_at(node, "pads_begin", axis);
    InterpolateSize size{shape[axis] + begin + pad_at(node, "pads_end", axis), 0, 1, begin, shape[axis]};
    if (size.input == 0) fail_node(node, "cannot resample an empty axis of " + to_string(shape));
    if (is_scaled) {
      size = by_scale(node, size, scales[i]);
    } else {
      size.output = sizes[i];
      size.scale = static_cast<double>(size.output) / static_cast<double>(size.input);
    }
    if (size.output < 1) fail_node(node, "has the output size " + std::to_string(size.output));
    result.push_back({axis, size});
  }
  return result;
}

Shape output_shape(const Node& node, const Shape& shape, const std::vector<ResizedAxis>& axes) {
  Shape result = shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result[i] += pad_at(node, "pads_begin", i) + pad_at(node, "pads_end", i);
  }
  for (const ResizedAxis& resized : axes) result[resized.axis] = resized.size.output;
  return result;
}

// A table for each axis that changes: one that keeps its size reads itself in every mode.
std::vector<InterpolateAxis> tables_of(const Node& node, const Shape& shape, const InputValues& values) {
  const std::vector<ResizedAxis> axes = resized_axes(node, shape, values);
  InterpolateRule rule{node.attributes.get_string("mode"), node.attributes.get_string("coordinate_transformation_mode"),
                       node.attributes.get_string("nearest_mode"), false, node.attributes.get_double("cube_coeff")};
  rule.antialias = node.attributes.get_bool("antialias") &&
                   std::any_of(axes.begin(), axes.end(), [](const ResizedAxis& axis) { return axis.size.scale < 1; });
  std::vector<InterpolateAxis> tables;
  std::vector<bool> is_done(shape.size(), false);
  for (const ResizedAxis& resized : axes) {
    const bool is_kept = resized.size.input == resized.size.output && resized.size.unpadded == resized.size.output;
    if (!is_kept) tables.push_back(make_interpolate_axis(rule, resized.axis, resized.size));
    is_done[resized.axis] = true;
  }
  InterpolateRule copying = rule;
  copying.mode = "nearest";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t begin = pad_at(node, "pads_begin", i);
    const std::int64_t padded = shape[i] + begin + pad_at(node, "pads_end", i);
    if (is_done[i] || padded == shape[i]) continue;
    tables.push_back(make_interpolate_axis(copying, i, {padded, padded, 1, begin, shape[i]}));
  }
  return tables;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t at_least = node.opset >= 4 && node.opset < 11 ? 3 : 2;
  check_input_count(node, inputs.size(), at_least, node.opset < 4 ? 2 : at_least + 1);
  const InputValues values = values_of(inputs);
  return {{inputs[0].type, output_shape(node, inputs[0].shape, resized_axes(node, inputs[0].shape, values))}};
}

// Resamples one axis of a dense array [outer, size, inner].
std::vector<double> resample(const std::vector<double>& source, const Shape& shape, const InterpolateAxis& axis) {
  const std::int64_t inner = row_major_strides(shape)[axis.axis];
  const std::int64_t size = shape[axis.axis];
  const std::int64_t outer = static_cast<std::int64_t>(source.size()) / (inner * size);
  const std::int64_t output = static_cast<std::int64_t>(axis.table.size()) / axis.taps;
  std::vector<double> result(static_cast<std::size_t>(outer * output * inner), 0.0);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t x = 0; x < output; ++x) {
      for (std::int64_t t = 0; t < axis.taps; ++t) {
        const InterpolateTap& tap = axis.table[static_cast<std::size_t>(x * axis.taps + t)];
        if (tap.weight == 0) continue;
        for (std::int64_t i = 0; i < inner; ++i) {
          result[static_cast<std::size_t>((o * output + x) * inner + i)] +=
              tap.weight * source[static_cast<std::size_t>((o * size + tap.index) * inner + i)];
        }
      }
    }
  }
  return result;
}

void store(const std::vector<double>& values, Tensor& output) {
  Tensor real(ElementType::f32, output.shape());
  const bool is_real = is_floating(output.type());
  std::transform(values.begin(), values.end(), real.mutable_values<float>().begin(),
                 [&](double value) { return static_cast<float>(is_real ? value : std::round(value)); });
  const Tensor result = convert(real, output.type());
  std::copy_n(result.data(), result.size_bytes(), output.mutable_data());
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  Shape shape = inputs[0].shape();
  std::vector<double> values = to_doubles(inputs[0]);
  for (const InterpolateAxis& axis : tables_of(node, shape, values_of(inputs))) {
    values = resample(values, shape, axis);
    shape[axis.axis] = static_cast<std::int64_t>(axis.table.size()) / axis.taps;
  }
  store(values, outputs[0]);
}

Support supports(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                 const KernelCaps& caps) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].constant == nullptr) {
      return Support::no("input " + std::to_string(i) + " is computed in the run, the kernel needs a constant");
    }
  }
  const Support support =
      interpolate_supports(tables_of(node, inputs[0].desc.shape, values_of(inputs)), inputs[0].desc, caps);
  return support.ok ? supports_int_index(inputs, outputs) : support;
}

Lowered lower(const Node& node, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
              const KernelCaps& caps) {
  return interpolate_lower(tables_of(node, inputs[0].desc.shape, values_of(inputs)), inputs[0].desc, outputs[0], caps);
}

}  // namespace

const OpDescriptor& interpolate_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = reference,
      .supports = supports,
      .lower = lower,
      .instances = interpolate_instances,
  };
  return op;
}

}  // namespace headrace
