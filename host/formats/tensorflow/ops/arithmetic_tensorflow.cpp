// SPDX-License-Identifier: Apache-2.0
// Functions of two or more tensors, element by element; matrix products.
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

TensorflowValues convert_binary(TensorflowContext& c) {
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"AddV2", "Add"}, {"Sub", "Subtract"}, {"Mul", "Multiply"},   {"RealDiv", "Divide"},
      {"Pow", "Power"}, {"Mod", "Mod"},      {"TruncateMod", "Mod"}};
  std::string_view type = c.node().op;
  for (const auto& [from, to] : kOther) {
    if (from == type) type = to;
  }
  return {c.add(type, type.starts_with("Bitwise") ? 13 : 1, {c.input(0), c.input(1)})};
}

// Integers are divided towards zero.
TensorflowValues convert_div(TensorflowContext& c) {
  return {c.add("Divide", 1, {c.input(0), c.input(1)}, {{"m_pythondiv", "false"}})};
}

TensorflowValues convert_floor_div(TensorflowContext& c) {
  if (!is_floating(c.element_type(c.input(0)))) {
    return {c.add("Divide", 1, {c.input(0), c.input(1)}, {{"m_pythondiv", "true"}})};
  }
  return {c.unary("Floor", c.binary("Divide", c.input(0), c.input(1)))};
}

// Zero where `zero` is zero, whatever the other operand is.
PortRef guarded(TensorflowContext& c, PortRef result, PortRef zero) {
  return c.select(c.binary("Equal", zero, c.constant_like(0, zero)), c.constant_like(0, result), result);
}

TensorflowValues convert_div_no_nan(TensorflowContext& c) {
  return {guarded(c, c.binary("Divide", c.input(0), c.input(1)), c.input(1))};
}

TensorflowValues convert_mul_no_nan(TensorflowContext& c) {
  return {guarded(c, c.binary("Multiply", c.input(0), c.input(1)), c.input(1))};
}

TensorflowValues convert_xdivy(TensorflowContext& c) {
  const PortRef y = c.node().op == "Xlogy" ? c.unary("Log", c.input(1)) : c.input(1);
  return {guarded(c, c.binary(c.node().op == "Xlogy" ? "Multiply" : "Divide", c.input(0), y), c.input(0))};
}

TensorflowValues convert_add_n(TensorflowContext& c) {
  PortRef sum = c.input(0);
  for (std::size_t i = 1; i < c.count_inputs(); ++i) sum = c.binary("Add", sum, c.input(i));
  return {sum};
}

// A condition of rank 1 picks whole rows.
TensorflowValues convert_select(TensorflowContext& c) {
  PortRef condition = c.input(0);
  if (c.node().op == "Select" && c.rank(condition) == 1) {
    const auto rank = static_cast<std::int64_t>(c.rank(c.input(1)));
    condition = c.unsqueeze(condition, iota(1, rank));
  }
  return {c.select(condition, c.input(1), c.input(2))};
}

TensorflowValues convert_matmul(TensorflowContext& c) {
  if (c.attr_bool("a_is_sparse", false) || c.attr_bool("b_is_sparse", false)) c.refuse("sparse operands");
  return {c.add("MatMul", 1, {c.input(0), c.input(1)},
                {{"transpose_a", text(c.attr_bool("transpose_a", false))},
                 {"transpose_b", text(c.attr_bool("transpose_b", false))}})};
}

TensorflowValues convert_batch_matmul(TensorflowContext& c) {
  const ElementType type = c.element_type(c.input(0));
  if (c.attr_element_type("Tout", type) != type) c.refuse("a result of another type");
  return {
      c.add("MatMul", 1, {c.input(0), c.input(1)},
            {{"transpose_a", text(c.attr_bool("adj_x", false))}, {"transpose_b", text(c.attr_bool("adj_y", false))}})};
}

TensorflowValues convert_einsum(TensorflowContext& c) {
  return {c.add("Einsum", 7, c.all_inputs(), {{"equation", c.attr_string("equation", "")}})};
}

constexpr TensorflowConverter kConverters[] = {
    {"Add", convert_binary},
    {"AddV2", convert_binary},
    {"Sub", convert_binary},
    {"Mul", convert_binary},
    {"RealDiv", convert_binary},
    {"Pow", convert_binary},
    {"Maximum", convert_binary},
    {"Minimum", convert_binary},
    {"SquaredDifference", convert_binary},
    {"FloorMod", convert_binary},
    {"Mod", convert_binary},
    {"TruncateMod", convert_binary},
    {"Equal", convert_binary},
    {"NotEqual", convert_binary},
    {"Less", convert_binary},
    {"LessEqual", convert_binary},
    {"Greater", convert_binary},
    {"GreaterEqual", convert_binary},
    {"LogicalAnd", convert_binary},
    {"LogicalOr", convert_binary},
    {"BitwiseAnd", convert_binary},
    {"BitwiseOr", convert_binary},
    {"BitwiseXor", convert_binary},
    {"Div", convert_div},
    {"TruncateDiv", convert_div},
    {"FloorDiv", convert_floor_div},
    {"DivNoNan", convert_div_no_nan},
    {"MulNoNan", convert_mul_no_nan},
    {"Xdivy", convert_xdivy},
    {"Xlogy", convert_xdivy},
    {"AddN", convert_add_n},
    {"AccumulateNV2", convert_add_n},
    {"Select", convert_select},
    {"SelectV2", convert_select},
    {"MatMul", convert_matmul},
    {"BatchMatMul", convert_batch_matmul},
    {"BatchMatMulV2", convert_batch_matmul},
    {"BatchMatMulV3", convert_batch_matmul},
    {"Einsum", convert_einsum},
};

}  // namespace

std::span<const TensorflowConverter> arithmetic_tensorflow() { return kConverters; }

}  // namespace headrace::detail
