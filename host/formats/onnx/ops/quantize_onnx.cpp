// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and what is computed on quantized matrices.
#include <array>

#include "formats/onnx/onnx_quantized.hpp"

namespace headrace::detail {
namespace {

OnnxAxis axis_of(OnnxContext& c) {
  if (c.attr_int("block_size", 0) != 0) c.refuse("block_size");
  const PortRef x = c.input(0);
  if (c.rank(c.input(1)) == 0) return {};
  const std::size_t rank = c.rank(x);
  if (c.rank(c.input(1)) == 1 && c.static_dim(c.input(1), 0) == 1 && rank == 1) return {};
  if (rank == 0) c.refuse("scales for the rows of a scalar");
  // A vector has one axis, whatever the default of the attribute, 1, says.
  const auto axis = static_cast<std::size_t>(c.axis(c.attr_int("axis", 1), std::max<std::size_t>(rank, 2)));
  return {rank, std::min(axis, rank - 1)};
}

std::vector<PortRef> convert_quantize(OnnxContext& c) {
  const PortRef x = c.convert(c.input(0), ElementType::f32);
  const OnnxAxis axis = axis_of(c);
  const PortRef scale = c.convert(along_axis(c, c.input(1), axis), ElementType::f32);
  if (!c.has_input(2) && c.has_attribute("output_dtype")) {
    const ElementType type = onnx_element_type(static_cast<std::int32_t>(c.attr_int("output_dtype", 2)));
    return {quantize(c, c.binary("Divide", x, scale), c.constant_scalar(0, type), axis)};
  }
  return {quantize(c, c.binary("Divide", x, scale), c.maybe_input(2), axis)};
}

std::vector<PortRef> convert_dequantize(OnnxContext& c) {
  const PortRef x = c.input(0);
  const OnnxAxis axis = axis_of(c);
  const PortRef scale = along_axis(c, c.input(1), axis);
  const ElementType type = c.element_type(scale);
  // i32 values need more than f32's 24 bits before the subtraction.
  const bool is_wide = c.element_type(x) == ElementType::i32;
  const PortRef level = without_zero_point(c, x, c.maybe_input(2), is_wide ? ElementType::i32 : type, axis);
  return {c.binary("Multiply", c.convert(level, type), scale)};
}

// Outputs: y (u8), scale, zero point (u8), all from the range of x with zero in it.
std::vector<PortRef> convert_dynamic_quantize(OnnxContext& c) {
  const PortRef x = c.input(0);
  const PortRef zero = c.constant_scalar(0, ElementType::f32);
  const PortRef steps = c.constant_scalar(255, ElementType::f32);
  const Ints axes = iota(0, static_cast<std::int64_t>(c.rank(x)));
  const PortRef low = c.binary("Minimum", c.reduce("ReduceMin", x, axes, false), zero);
  const PortRef high = c.binary("Maximum", c.reduce("ReduceMax", x, axes, false), zero);
  const PortRef range = c.binary("Subtract", high, low);
  const PortRef scale = c.binary("Divide", range, steps);
  // Of a tensor of zeros the scale is 0; its levels are all 0.
  const PortRef divisor = c.select(c.binary("Equal", scale, zero), c.constant_scalar(1, ElementType::f32), scale);
  const PortRef place = c.binary("Divide", c.binary("Subtract", zero, low), divisor);
  const PortRef zero_point = quantize(c, place, std::nullopt, {});
  return {quantize(c, c.binary("Divide", x, divisor), zero_point, {}), scale, zero_point};
}

// A zero point per row of a or per column of b.
PortRef matrix_operand(OnnxContext& c, std::size_t input, std::optional<PortRef> zero_point, bool is_left) {
  const PortRef x = c.input(input);
  if (zero_point && is_left && c.rank(*zero_point) == 1 && c.static_dim(*zero_point, 0) != 1) {
    zero_point = c.unsqueeze(*zero_point, {1});
  }
  return without_zero_point(c, x, zero_point, ElementType::i32, {});
}

std::vector<PortRef> convert_matmul_integer(OnnxContext& c) {
  const PortRef a = matrix_operand(c, 0, c.maybe_input(2), true);
  const PortRef b = matrix_operand(c, 1, c.maybe_input(3), false);
  return {c.binary("MatMul", a, b)};
}

// Inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
std::vector<PortRef> convert_qlinear_matmul(OnnxContext& c) {
  const PortRef a = matrix_operand(c, 0, c.maybe_input(2), true);
  const PortRef b = matrix_operand(c, 3, c.maybe_input(5), false);
  PortRef a_scale = c.input(1);
  if (c.rank(a_scale) == 1 && c.static_dim(a_scale, 0) != 1) a_scale = c.unsqueeze(a_scale, {1});
  const PortRef factor = c.binary("Divide", c.binary("Multiply", a_scale, c.input(4)), c.input(6));
  const PortRef sum = c.convert(c.binary("MatMul", a, b), ElementType::f32);
  return {quantize(c, c.binary("Multiply", sum, factor), c.maybe_input(7), {})};
}

constexpr OnnxConverter kConverters[] = {
    {"QuantizeLinear", convert_quantize},
    {"DequantizeLinear", convert_dequantize},
    {"DynamicQuantizeLinear", convert_dynamic_quantize},
    {"MatMulInteger", convert_matmul_integer},
    {"QLinearMatMul", convert_qlinear_matmul},
};

}  // namespace

std::span<const OnnxConverter> quantize_onnx() { return kConverters; }

}  // namespace headrace::detail
