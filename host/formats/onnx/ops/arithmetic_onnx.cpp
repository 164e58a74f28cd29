// SPDX-License-Identifier: Apache-2.0
// Functions of two or more tensors, element by element: arithmetic, comparison, logic, Where.
#include <limits>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

// Before opset 7 a second operand fitted the first one's dimensions from `axis` on where `broadcast` was set.
PortRef second_operand(OnnxContext& c) {
  const PortRef b = c.input(1);
  if (c.opset() >= 7 || c.attr_int("broadcast", 0) == 0 || !c.has_attribute("axis")) return b;
  const auto rank = static_cast<std::int64_t>(c.rank(c.input(0)));
  const std::int64_t end =
      c.axis(c.attr_int("axis", 0), static_cast<std::size_t>(rank)) + static_cast<std::int64_t>(c.rank(b));
  const std::int64_t missing = rank - end;
  const auto own_rank = static_cast<std::int64_t>(c.rank(b));
  return missing <= 0 ? b : c.unsqueeze(b, iota(own_rank, own_rank + missing));
}

std::string_view ir_type(std::string_view onnx) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"Add", "Add"},
                                                                      {"Sub", "Subtract"},
                                                                      {"Mul", "Multiply"},
                                                                      {"And", "LogicalAnd"},
                                                                      {"Or", "LogicalOr"},
                                                                      {"Xor", "LogicalXor"},
                                                                      {"Equal", "Equal"},
                                                                      {"Greater", "Greater"},
                                                                      {"GreaterOrEqual", "GreaterEqual"},
                                                                      {"Less", "Less"},
                                                                      {"LessOrEqual", "LessEqual"},
                                                                      {"Max", "Maximum"},
                                                                      {"Min", "Minimum"},
                                                                      {"Sum", "Add"},
                                                                      {"Mean", "Add"},
                                                                      {"BitwiseAnd", "BitwiseAnd"},
                                                                      {"BitwiseOr", "BitwiseOr"},
                                                                      {"BitwiseXor", "BitwiseXor"}};
  for (const auto& [from, to] : kNames) {
    if (from == onnx) return to;
  }
  fail(ErrorCode::kInternal, "no IR operator for " + std::string(onnx));
}

std::vector<PortRef> convert_binary(OnnxContext& c) {
  const std::string_view type = ir_type(c.node().op_type);
  return {c.add(type, type.starts_with("Bitwise") ? 13 : 1, {c.input(0), second_operand(c)})};
}

// ONNX divides integers towards zero.
std::vector<PortRef> convert_div(OnnxContext& c) {
  return {c.add("Divide", 1, {c.input(0), second_operand(c)}, {{"m_pythondiv", "false"}})};
}

// Max, Min, Sum, Mean of any number of tensors.
std::vector<PortRef> convert_variadic(OnnxContext& c) {
  const std::vector<PortRef> inputs = c.all_inputs();
  PortRef result = c.input(0);
  for (std::size_t i = 1; i < inputs.size(); ++i) result = c.binary(ir_type(c.node().op_type), result, inputs[i]);
  if (c.node().op_type != "Mean" || inputs.size() == 1) return {result};
  return {c.binary("Divide", result, c.constant_like(static_cast<double>(inputs.size()), result))};
}

// The result has the base's type; an exponent of another type is converted, in float where one of them is.
std::vector<PortRef> convert_pow(OnnxContext& c) {
  const PortRef base = c.input(0);
  const PortRef exponent = second_operand(c);
  const ElementType type = c.element_type(base);
  const ElementType other = c.element_type(exponent);
  if (type == other) return {c.binary("Power", base, exponent)};
  if (is_floating(type)) return {c.binary("Power", base, c.convert(exponent, type))};
  const ElementType wide = is_floating(other) ? other : ElementType::i64;
  return {c.convert(c.binary("Power", c.convert(base, wide), c.convert(exponent, wide)), type)};
}

// fmod has the dividend's sign, as C's; without it the sign is the divisor's.
std::vector<PortRef> convert_mod(OnnxContext& c) {
  const bool is_c = c.attr_int("fmod", 0) != 0;
  return {c.binary(is_c ? "Mod" : "FloorMod", c.input(0), c.input(1))};
}

// Shifts of u8 by multiplying or dividing with a power of two, which is exact.
std::vector<PortRef> convert_bit_shift(OnnxContext& c) {
  const PortRef x = c.input(0);
  const ElementType type = c.element_type(x);
  if (type != ElementType::u8) c.refuse("element type " + std::string(to_string(type)));
  const PortRef two = c.constant_scalar(2, ElementType::i64);
  const PortRef factor = c.binary("Power", two, c.convert(c.input(1), ElementType::i64));
  const PortRef wide = c.convert(x, ElementType::i64);
  const std::string direction = c.attr_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") c.refuse("direction '" + direction + "'");
  const PortRef shifted = direction == "LEFT" ? c.binary("Multiply", wide, factor) : c.binary("Divide", wide, factor);
  return {c.convert(c.binary("FloorMod", shifted, c.constant_scalar(256, ElementType::i64)), type)};
}

std::vector<PortRef> convert_where(OnnxContext& c) { return {c.select(c.input(0), c.input(1), c.input(2))}; }

std::vector<PortRef> convert_prelu(OnnxContext& c) {
  PortRef slope = c.input(1);
  const std::size_t rank = c.rank(c.input(0));
  const std::size_t slope_rank = c.rank(slope);
  // ONNX aligns the slope with the last axis; IR gives a slope of rank 1 to the channels. Before opset 7 ONNX did too.
  const bool is_aligned = slope_rank == rank || (c.opset() < 7 && slope_rank == 1);
  if (!is_aligned) slope = c.unsqueeze(slope, iota(0, static_cast<std::int64_t>(rank - slope_rank)));
  return {c.binary("PReLU", c.input(0), slope)};
}

constexpr OnnxConverter kConverters[] = {
    {"Add", convert_binary},
    {"Sub", convert_binary},
    {"Mul", convert_binary},
    {"Div", convert_div},
    {"And", convert_binary},
    {"Or", convert_binary},
    {"Xor", convert_binary},
    {"Equal", convert_binary},
    {"Greater", convert_binary},
    {"GreaterOrEqual", convert_binary},
    {"Less", convert_binary},
    {"LessOrEqual", convert_binary},
    {"Max", convert_variadic},
    {"Min", convert_variadic},
    {"Sum", convert_variadic},
    {"Mean", convert_variadic},
    {"Pow", convert_pow},
    {"Mod", convert_mod},
    {"BitShift", convert_bit_shift},
    {"BitwiseAnd", convert_binary},
    {"BitwiseOr", convert_binary},
    {"BitwiseXor", convert_binary},
    {"Where", convert_where},
    {"PRelu", convert_prelu},
};

}  // namespace

std::span<const OnnxConverter> arithmetic_onnx() { return kConverters; }

}  // namespace headrace::detail
