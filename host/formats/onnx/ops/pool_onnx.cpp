// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over whole images.
#include "formats/onnx/onnx_window.hpp"

namespace headrace::detail {
namespace {

Ints kernel_of(const OnnxContext& c) {
  const auto kernel = c.attr_ints("kernel_shape");
  if (!kernel || kernel->empty()) fail(ErrorCode::kBadModel, "has no kernel_shape");
  return *kernel;
}

RawAttributes pool_attributes(const OnnxContext& c, const Ints& kernel) {
  RawAttributes attributes = window_attributes(onnx_window(c, kernel.size()));
  attributes["kernel"] = text(kernel);
  // The last window must begin inside the input or its padding: what OpenVINO calls PyTorch's rule.
  attributes["rounding_type"] = c.attr_int("ceil_mode", 0) != 0 ? "ceil_torch" : "floor";
  return attributes;
}

// Row-major places in [N, C, H, W] to those with rows and columns exchanged (storage_order 1).
PortRef column_major(OnnxContext& c, PortRef indices) {
  const PortRef x = c.input(0);
  if (c.rank(x) != 4) c.refuse("storage_order 1 for inputs of rank " + std::to_string(c.rank(x)));
  const PortRef height = c.constant_int(c.dim(x, 2));
  const PortRef width = c.constant_int(c.dim(x, 3));
  const PortRef image = c.constant_int(c.dim(x, 2) * c.dim(x, 3));
  const PortRef in_image = c.binary("FloorMod", indices, image);
  const PortRef row = c.binary("Divide", in_image, width);
  const PortRef column = c.binary("FloorMod", in_image, width);
  const PortRef place = c.binary("Add", c.binary("Multiply", column, height), row);
  return c.binary("Add", c.binary("Subtract", indices, in_image), place);
}

std::vector<PortRef> convert_max_pool(OnnxContext& c) {
  RawAttributes attributes = pool_attributes(c, kernel_of(c));
  attributes["index_element_type"] = "i64";
  attributes["axis"] = "0";
  const PortRef y = c.add("MaxPool", 14, {c.input(0)}, attributes, 2);
  if (!c.wants_output(1)) return {y};
  const PortRef indices{y.node, 1};
  return {y, c.attr_int("storage_order", 0) == 0 ? indices : column_major(c, indices)};
}

std::vector<PortRef> convert_average_pool(OnnxContext& c) {
  RawAttributes attributes = pool_attributes(c, kernel_of(c));
  attributes["exclude-pad"] = text(c.attr_int("count_include_pad", 0) == 0);
  return {c.add("AvgPool", 16, {c.input(0)}, attributes)};
}

PortRef power(OnnxContext& c, PortRef x, double exponent) { return c.binary("Power", x, c.constant_like(exponent, x)); }

// The root of the sum of powers: of a window's elements, padding counting as zero.
std::vector<PortRef> convert_lp_pool(OnnxContext& c) {
  const Ints kernel = kernel_of(c);
  if (c.attr_int("ceil_mode", 0) != 0) c.refuse("ceil_mode");
  const auto p = static_cast<double>(c.attr_int("p", 2));
  RawAttributes attributes = pool_attributes(c, kernel);
  attributes["exclude-pad"] = "false";
  const PortRef powers = power(c, c.unary("Abs", c.input(0)), p);
  const PortRef mean = c.add("AvgPool", 16, {powers}, attributes);
  const auto count = static_cast<double>(count_elems(kernel));
  return {power(c, c.binary("Multiply", mean, c.constant_like(count, mean)), 1 / p)};
}

Ints image_axes(const OnnxContext& c) { return iota(2, static_cast<std::int64_t>(c.rank(c.input(0)))); }

std::vector<PortRef> convert_global(OnnxContext& c) {
  const bool is_max = c.node().op_type == "GlobalMaxPool";
  return {c.reduce(is_max ? "ReduceMax" : "ReduceMean", c.input(0), image_axes(c), true)};
}

std::vector<PortRef> convert_global_lp(OnnxContext& c) {
  const std::int64_t p = c.attr_int("p", 2);
  if (p == 1 || p == 2) return {c.reduce(p == 1 ? "ReduceL1" : "ReduceL2", c.input(0), image_axes(c), true)};
  const PortRef powers = power(c, c.unary("Abs", c.input(0)), static_cast<double>(p));
  return {power(c, c.reduce("ReduceSum", powers, image_axes(c), true), 1 / static_cast<double>(p))};
}

// Puts every element where its maximum was. Places count in the output that the window gives; a larger output_shape
// adds zeros at the ends.
std::vector<PortRef> convert_max_unpool(OnnxContext& c) {
  const PortRef x = c.input(0);
  const Ints kernel = kernel_of(c);
  const OnnxWindow window = onnx_window(c, kernel.size());
  const Shape from = c.shape(x);
  if (from.size() != kernel.size() + 2) fail(ErrorCode::kBadModel, "its input has shape " + to_string(from));
  Shape to = {from[0], from[1]};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    to.push_back((from[i + 2] - 1) * window.strides[i] + kernel[i] - window.pads_begin[i] - window.pads_end[i]);
  }
  const PortRef zeros = c.filled(0, c.element_type(x), {count_elems(to)});
  const PortRef flat =
      c.add("ScatterElementsUpdate", 3, {zeros, c.reshape(c.input(1), {-1}), c.reshape(x, {-1}), c.constant_int(0)});
  const PortRef y = c.reshape(flat, to, false);
  if (!c.has_input(2)) return {y};
  const PortRef more = c.binary("Subtract", c.convert(c.input(2), ElementType::i64), c.constant_ints(to));
  const Ints none(to.size(), 0);
  return {c.add("Pad", 12, {y, c.constant_ints(none), more, c.constant_like(0, y)}, {{"pad_mode", "constant"}})};
}

constexpr OnnxConverter kConverters[] = {
    {"MaxPool", convert_max_pool},         {"AveragePool", convert_average_pool}, {"LpPool", convert_lp_pool},
    {"GlobalAveragePool", convert_global}, {"GlobalMaxPool", convert_global},     {"GlobalLpPool", convert_global_lp},
    {"MaxUnpool", convert_max_unpool},
};

}  // namespace

std::span<const OnnxConverter> pool_onnx() { return kConverters; }

}  // namespace headrace::detail
