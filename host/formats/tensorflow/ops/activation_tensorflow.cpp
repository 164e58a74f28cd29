// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, element by element.
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

TensorflowValues convert_unary(TensorflowContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"Relu", "ReLU"}, {"Neg", "Negative"}, {"Ceil", "Ceiling"}, {"Softplus", "SoftPlus"}, {"Softsign", "SoftSign"}};
  std::string_view type = c.node().op;
  for (const auto& [from, to] : kOther) {
    if (from == type) type = to;
  }
  return {c.add(type, type == "SoftPlus" ? 4 : type == "SoftSign" ? 9 : 1, {c.input(0)})};
}

TensorflowValues convert_test(TensorflowContext& c) {
  const std::string_view op = c.node().op;
  if (op == "IsInf")
    return {c.add("IsInf", 10, {c.input(0)}, {{"detect_negative", "true"}, {"detect_positive", "true"}})};
  return {c.add(op == "IsNan" ? "IsNaN" : "IsFinite", 10, {c.input(0)})};
}

TensorflowValues convert_relu6(TensorflowContext& c) {
  const PortRef x = c.input(0);
  if (is_floating(c.element_type(x))) return {c.add("Clamp", 1, {x}, {{"min", "0"}, {"max", "6"}})};
  return {c.binary("Minimum", c.binary("Maximum", x, c.constant_like(0, x)), c.constant_like(6, x))};
}

TensorflowValues convert_leaky_relu(TensorflowContext& c) {
  const PortRef x = c.input(0);
  return {c.binary("PReLU", x, c.constant_like(c.attr_float("alpha", static_cast<double>(0.2F)), x))};
}

TensorflowValues convert_elu(TensorflowContext& c) { return {c.add("Elu", 1, {c.input(0)}, {{"alpha", "1"}})}; }

// The constants of Klambauer et al., "Self-Normalizing Neural Networks", as floats.
TensorflowValues convert_selu(TensorflowContext& c) {
  const PortRef x = c.input(0);
  return {c.add("Selu", 1, {x, c.constant_like(1.6732632423543772848, x), c.constant_like(1.0507009873554804934, x)})};
}

TensorflowValues convert_rsqrt(TensorflowContext& c) {
  const PortRef x = c.input(0);
  return {c.binary("Divide", c.constant_like(1, x), c.unary("Sqrt", x))};
}

TensorflowValues convert_reciprocal(TensorflowContext& c) {
  return {c.binary("Divide", c.constant_like(1, c.input(0)), c.input(0))};
}

TensorflowValues convert_square(TensorflowContext& c) { return {c.binary("Multiply", c.input(0), c.input(0))}; }

TensorflowValues convert_round(TensorflowContext& c) {
  if (!is_floating(c.element_type(c.input(0)))) return {c.input(0)};
  return {c.add("Round", 5, {c.input(0)}, {{"mode", "half_to_even"}})};
}

TensorflowValues convert_log1p(TensorflowContext& c) {
  return {c.unary("Log", c.binary("Add", c.input(0), c.constant_like(1, c.input(0))))};
}

// An Elu gives exp(x) - 1 below zero without the loss of a difference.
TensorflowValues convert_expm1(TensorflowContext& c) {
  const PortRef x = c.input(0);
  const PortRef above = c.binary("Subtract", c.unary("Exp", x), c.constant_like(1, x));
  return {c.select(c.binary("Less", x, c.constant_like(0, x)), c.add("Elu", 1, {x}, {{"alpha", "1"}}), above)};
}

TensorflowValues convert_erfc(TensorflowContext& c) {
  return {c.binary("Subtract", c.constant_like(1, c.input(0)), c.unary("Erf", c.input(0)))};
}

TensorflowValues convert_clip(TensorflowContext& c) {
  const PortRef x = c.input(0);
  const auto low = c.scalar(c.input(1));
  const auto high = c.scalar(c.input(2));
  if (low && high && *low <= *high && is_floating(c.element_type(x))) {
    return {c.add("Clamp", 1, {x}, {{"min", text(*low)}, {"max", text(*high)}})};
  }
  return {c.binary("Maximum", c.binary("Minimum", x, c.input(2)), c.input(1))};
}

TensorflowValues convert_bitwise_not(TensorflowContext& c) { return {c.add("BitwiseNot", 13, {c.input(0)})}; }

constexpr TensorflowConverter kConverters[] = {
    {"Abs", convert_unary},
    {"Acos", convert_unary},
    {"Acosh", convert_unary},
    {"Asin", convert_unary},
    {"Asinh", convert_unary},
    {"Atan", convert_unary},
    {"Atanh", convert_unary},
    {"Ceil", convert_unary},
    {"Cos", convert_unary},
    {"Cosh", convert_unary},
    {"Erf", convert_unary},
    {"Exp", convert_unary},
    {"Floor", convert_unary},
    {"Log", convert_unary},
    {"Neg", convert_unary},
    {"Relu", convert_unary},
    {"Sigmoid", convert_unary},
    {"Sign", convert_unary},
    {"Sin", convert_unary},
    {"Sinh", convert_unary},
    {"Softplus", convert_unary},
    {"Softsign", convert_unary},
    {"Sqrt", convert_unary},
    {"Tan", convert_unary},
    {"Tanh", convert_unary},
    {"LogicalNot", convert_unary},
    {"IsNan", convert_test},
    {"IsInf", convert_test},
    {"IsFinite", convert_test},
    {"Relu6", convert_relu6},
    {"Elu", convert_elu},
    {"Selu", convert_selu},
    {"LeakyRelu", convert_leaky_relu},
    {"Rsqrt", convert_rsqrt},
    {"Square", convert_square},
    {"Reciprocal", convert_reciprocal},
    {"Round", convert_round},
    {"Rint", convert_round},
    {"Inv", convert_reciprocal},
    {"Log1p", convert_log1p},
    {"Expm1", convert_expm1},
    {"Erfc", convert_erfc},
    {"Invert", convert_bitwise_not},
    {"ClipByValue", convert_clip},
};

}  // namespace

std::span<const TensorflowConverter> activation_tensorflow() { return kConverters; }

}  // namespace headrace::detail
