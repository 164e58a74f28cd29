// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor, element by element: activations, rounding, exponential and trigonometric functions.
#include <cmath>
#include <limits>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_unary(OnnxContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"Relu", "ReLU"},         {"Neg", "Negative"},     {"Ceil", "Ceiling"},  {"Softplus", "SoftPlus"},
      {"Softsign", "SoftSign"}, {"HardSwish", "HSwish"}, {"Not", "LogicalNot"}};
  std::string_view type = c.node().op_type;
  for (const auto& [from, to] : kOther) {
    if (from == type) type = to;
  }
  return {c.unary(type, c.input(0))};
}

std::vector<PortRef> convert_bitwise_not(OnnxContext& c) { return {c.add("BitwiseNot", 13, {c.input(0)})}; }

std::vector<PortRef> convert_reciprocal(OnnxContext& c) {
  return {c.binary("Divide", c.constant_like(1, c.input(0)), c.input(0))};
}

std::vector<PortRef> convert_round(OnnxContext& c) {
  return {c.add("Round", 5, {c.input(0)}, {{"mode", "half_to_even"}})};
}

std::vector<PortRef> convert_is_inf(OnnxContext& c) {
  return {c.add("IsInf", 10, {c.input(0)},
                {{"detect_negative", text(c.attr_int("detect_negative", 1) != 0)},
                 {"detect_positive", text(c.attr_int("detect_positive", 1) != 0)}})};
}

std::vector<PortRef> convert_is_nan(OnnxContext& c) { return {c.add("IsNaN", 10, {c.input(0)})}; }

// Bounds are attributes up to opset 10, then inputs, either of which may be left out.
std::vector<PortRef> convert_clip(OnnxContext& c) {
  const PortRef x = c.input(0);
  const ElementType type = c.element_type(x);
  std::optional<PortRef> low = c.maybe_input(1);
  std::optional<PortRef> high = c.maybe_input(2);
  if (c.opset() < 11) {
    if (c.has_attribute("min")) low = c.constant_scalar(c.attr_float("min", 0), type);
    if (c.has_attribute("max")) high = c.constant_scalar(c.attr_float("max", 0), type);
  }
  const auto low_value = low ? c.scalar(*low) : -std::numeric_limits<double>::infinity();
  const auto high_value = high ? c.scalar(*high) : std::numeric_limits<double>::infinity();
  // Where the bounds cross the upper one wins; Clamp refuses them.
  if (low && high && low_value && high_value && *low_value <= *high_value && is_floating(type)) {
    return {c.add("Clamp", 1, {x}, {{"min", text(*low_value)}, {"max", text(*high_value)}})};
  }
  PortRef result = x;
  if (low) result = c.binary("Maximum", result, *low);
  if (high) result = c.binary("Minimum", result, *high);
  return {result};
}

std::vector<PortRef> convert_leaky_relu(OnnxContext& c) {
  return {
      c.binary("PReLU", c.input(0), c.constant_like(c.attr_float("alpha", static_cast<double>(0.01F)), c.input(0)))};
}

std::vector<PortRef> convert_elu(OnnxContext& c) {
  return {c.add("Elu", 1, {c.input(0)}, {{"alpha", text(c.attr_float("alpha", 1))}})};
}

std::vector<PortRef> convert_selu(OnnxContext& c) {
  const PortRef x = c.input(0);
  // ONNX's defaults are these decimals, rounded to float.
  const double alpha = c.attr_float("alpha", static_cast<double>(1.67326319217681884765625F));
  const double gamma = c.attr_float("gamma", static_cast<double>(1.05070102214813232421875F));
  return {c.add("Selu", 1, {x, c.constant_like(alpha, x), c.constant_like(gamma, x)})};
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)): an Elu of x / alpha, times alpha.
std::vector<PortRef> convert_celu(OnnxContext& c) {
  const double alpha = c.attr_float("alpha", 1);
  const PortRef x = c.binary("Divide", c.input(0), c.constant_like(alpha, c.input(0)));
  return {c.binary("Multiply", c.add("Elu", 1, {x}, {{"alpha", "1"}}), c.constant_like(alpha, x))};
}

std::vector<PortRef> convert_hard_sigmoid(OnnxContext& c) {
  const PortRef x = c.input(0);
  const PortRef alpha = c.constant_like(c.attr_float("alpha", static_cast<double>(0.2F)), x);
  return {c.add("HardSigmoid", 1, {x, alpha, c.constant_like(c.attr_float("beta", 0.5), x)})};
}

std::vector<PortRef> convert_thresholded_relu(OnnxContext& c) {
  const PortRef x = c.input(0);
  const PortRef is_above = c.binary("Greater", x, c.constant_like(c.attr_float("alpha", 1), x));
  return {c.select(is_above, x, c.constant_like(0, x))};
}

std::vector<PortRef> convert_shrink(OnnxContext& c) {
  const PortRef x = c.input(0);
  const double lambda = c.attr_float("lambd", 0.5);
  const PortRef bias = c.constant_like(c.attr_float("bias", 0), x);
  const PortRef zero = c.constant_like(0, x);
  const PortRef is_below = c.binary("Less", x, c.constant_like(-lambda, x));
  const PortRef is_above = c.binary("Greater", x, c.constant_like(lambda, x));
  const PortRef upper = c.select(is_above, c.binary("Subtract", x, bias), zero);
  return {c.select(is_below, c.binary("Add", x, bias), upper)};
}

std::vector<PortRef> convert_gelu(OnnxContext& c) {
  const bool is_tanh = c.attr_string("approximate", "none") == "tanh";
  return {c.add("Gelu", 7, {c.input(0)}, {{"approximation_mode", is_tanh ? "TANH" : "ERF"}})};
}

std::vector<PortRef> convert_mish(OnnxContext& c) { return {c.add("Mish", 4, {c.input(0)})}; }

std::vector<PortRef> convert_swish(OnnxContext& c) {
  const PortRef x = c.input(0);
  return {c.add("Swish", 4, {x, c.constant_like(c.attr_float("alpha", 1), x)})};
}

constexpr OnnxConverter kConverters[] = {
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
    {"HardSwish", convert_unary},
    {"Log", convert_unary},
    {"Neg", convert_unary},
    {"Not", convert_unary},
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
    {"BitwiseNot", convert_bitwise_not},
    {"Reciprocal", convert_reciprocal},
    {"Round", convert_round},
    {"IsInf", convert_is_inf},
    {"IsNaN", convert_is_nan},
    {"Clip", convert_clip},
    {"LeakyRelu", convert_leaky_relu},
    {"Elu", convert_elu},
    {"Selu", convert_selu},
    {"Celu", convert_celu},
    {"HardSigmoid", convert_hard_sigmoid},
    {"ThresholdedRelu", convert_thresholded_relu},
    {"Shrink", convert_shrink},
    {"Gelu", convert_gelu},
    {"Gelu", convert_gelu, "com.microsoft"},
    {"Mish", convert_mish},
    {"Swish", convert_swish},
};

}  // namespace

std::span<const OnnxConverter> activation_onnx() { return kConverters; }

}  // namespace headrace::detail
