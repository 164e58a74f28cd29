// SPDX-License-Identifier: Apache-2.0
// Functions element by element, of one tensor and of several.
#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {
namespace {

// Old and new names of functions without attributes; the opset that has them.
struct Function {
  std::string_view from;
  std::string_view to;
  std::int32_t opset;
};
constexpr Function kFunctions[] = {
    {"sigmoid", "Sigmoid", 1}, {"logistic", "Sigmoid", 1}, {"tanh", "Tanh", 1},         {"exp", "Exp", 1},
    {"abs", "Abs", 1},         {"acos", "Acos", 1},        {"acosh", "Acosh", 4},       {"asin", "Asin", 1},
    {"asinh", "Asinh", 4},     {"atan", "Atan", 1},        {"atanh", "Atanh", 4},       {"ceil", "Ceiling", 1},
    {"ceiling", "Ceiling", 1}, {"cos", "Cos", 1},          {"cosh", "Cosh", 1},         {"erf", "Erf", 1},
    {"floor", "Floor", 1},     {"log", "Log", 1},          {"neg", "Negative", 1},      {"sign", "Sign", 1},
    {"sin", "Sin", 1},         {"sinh", "Sinh", 1},        {"softplus", "SoftPlus", 4}, {"softsign", "SoftSign", 9},
    {"sqrt", "Sqrt", 1},       {"tan", "Tan", 1},
};

// The function's result, or nothing where it has another form.
std::optional<PortRef> apply_function(OldIrContext& c, const std::string& name) {
  for (const Function& function : kFunctions) {
    if (function.from == name) return c.add(function.to, function.opset, {c.input()});
  }
  return std::nullopt;
}

std::vector<PortRef> convert_function(OldIrContext& c) {
  const auto y = apply_function(c, lowercase(c.layer().type));
  if (!y) fail(ErrorCode::kInternal, "a type without its function");
  return {*y};
}

std::vector<PortRef> convert_relu(OldIrContext& c) {
  return {add_relu(c, c.input(), c.get_float({"negative_slope"}, 0))};
}

std::vector<PortRef> convert_elu(OldIrContext& c) {
  return {c.add("Elu", 1, {c.input()}, {{"alpha", text(c.get_float({"alpha"}, 1))}})};
}

PortRef clamp(OldIrContext& c, double low, double high) {
  return c.add("Clamp", 1, {c.input()}, {{"min", text(low)}, {"max", text(high)}});
}

std::vector<PortRef> convert_clamp(OldIrContext& c) {
  if (!c.has({"min"}) || !c.has({"max"})) fail(ErrorCode::kBadModel, "needs min and max");
  return {clamp(c, c.get_float({"min"}, 0), c.get_float({"max"}, 0))};
}

std::vector<PortRef> convert_relu6(OldIrContext& c) { return {clamp(c, 0, c.get_float({"n"}, 6))}; }

std::vector<PortRef> convert_activation(OldIrContext& c) {
  const std::string type = c.get_string({"type"}, "");
  if (type == "relu") return convert_relu(c);
  if (type == "elu") return convert_elu(c);
  if (type == "relu6") return convert_relu6(c);
  if (type == "clamp" || type == "clip") return convert_clamp(c);
  const auto y = apply_function(c, type);
  if (!y) c.refuse("the function " + quote(type));
  return {*y};
}

std::vector<PortRef> convert_power(OldIrContext& c) {
  return {add_power(c, c.input(), c.get_float({"power"}, 1), c.get_float({"scale"}, 1), c.get_float({"shift"}, 0))};
}

std::vector<PortRef> convert_hard_sigmoid(OldIrContext& c) {
  const PortRef x = c.input();
  return {c.add("HardSigmoid", 1,
                {x, c.constant_like(c.get_float({"alpha"}, 0.2), x), c.constant_like(c.get_float({"beta"}, 0.5), x)})};
}

std::vector<PortRef> convert_selu(OldIrContext& c) {
  const PortRef x = c.input();
  return {c.add("Selu", 1,
                {x, c.constant_like(c.get_float({"alpha"}, 1.67326324), x),
                 c.constant_like(c.get_float({"gamma"}, 1.05070098), x)})};
}

std::vector<PortRef> convert_reciprocal(OldIrContext& c) {
  return {c.binary("Divide", c.constant_like(1, c.input()), c.input())};
}

std::vector<PortRef> convert_identity(OldIrContext& c) { return std::vector<PortRef>(c.count_outputs(), c.input()); }

std::vector<PortRef> convert_eltwise(OldIrContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kOperations[] = {{"sum", "Add"},
                                                                           {"add", "Add"},
                                                                           {"mul", "Multiply"},
                                                                           {"prod", "Multiply"},
                                                                           {"max", "Maximum"},
                                                                           {"min", "Minimum"},
                                                                           {"sub", "Subtract"},
                                                                           {"div", "Divide"},
                                                                           {"pow", "Power"},
                                                                           {"floor_mod", "FloorMod"},
                                                                           {"squared_diff", "SquaredDifference"}};
  constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
      {"equal", "Equal"}, {"not_equal", "NotEqual"},  {"greater", "Greater"}, {"greater_equal", "GreaterEqual"},
      {"less", "Less"},   {"less_equal", "LessEqual"}};
  const std::string operation = c.get_string({"operation"}, "sum");
  const std::vector<double> coefficients = c.get_floats({"coeff"});
  for (const auto& [from, to] : kOperations) {
    if (from == operation) return {add_joined(c, to, c.inputs(), to == "Add" ? coefficients : std::vector<double>{})};
  }
  for (const auto& [from, to] : kComparisons) {
    // Truth was 1 and 0 of the inputs' type.
    if (from == operation) return {c.convert(c.binary(to, c.input(0), c.input(1)), c.element_type(c.input(0)))};
  }
  c.refuse("the operation " + quote(operation));
}

constexpr OldIrConverter kConverters[] = {
    {"Sigmoid", convert_function},
    {"Logistic", convert_function},
    {"TanH", convert_function},
    {"Exp", convert_function},
    {"Abs", convert_function},
    {"Acos", convert_function},
    {"Acosh", convert_function},
    {"Asin", convert_function},
    {"Asinh", convert_function},
    {"Atan", convert_function},
    {"Atanh", convert_function},
    {"Ceil", convert_function},
    {"Ceiling", convert_function},
    {"Cos", convert_function},
    {"Cosh", convert_function},
    {"Erf", convert_function},
    {"Floor", convert_function},
    {"Log", convert_function},
    {"Neg", convert_function},
    {"Sign", convert_function},
    {"Sin", convert_function},
    {"Sinh", convert_function},
    {"SoftPlus", convert_function},
    {"SoftSign", convert_function},
    {"Sqrt", convert_function},
    {"Tan", convert_function},
    {"ReLU", convert_relu},
    {"ELU", convert_elu},
    {"Clamp", convert_clamp},
    {"ReLU6", convert_relu6},
    {"Activation", convert_activation},
    {"Power", convert_power},
    {"HardSigmoid", convert_hard_sigmoid},
    {"Selu", convert_selu},
    {"Reciprocal", convert_reciprocal},
    {"Copy", convert_identity},
    {"Dropout", convert_identity},
    {"Eltwise", convert_eltwise},
};

}  // namespace

std::span<const OldIrConverter> elementwise_old_ir() { return kConverters; }

}  // namespace headrace::detail
