// SPDX-License-Identifier: Apache-2.0
// Bitwise functions of integers and booleans, with broadcasting.
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"BitwiseAnd", "BitwiseOr",        "BitwiseXor",
                                       "BitwiseNot", "BitwiseLeftShift", "BitwiseRightShift"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  if (type != "BitwiseNot") set_broadcast(attributes, raw);
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  const std::size_t operands = node.type == "BitwiseNot" ? 1 : 2;
  check_input_count(node, inputs.size(), operands, operands);
  for (const InferInput& input : inputs) {
    if (is_floating(input.type) || input.type != inputs[0].type) {
      fail_node(node, "needs integers or booleans of one type, has " + std::string(to_string(input.type)));
    }
  }
  if (operands == 1) return {{inputs[0].type, inputs[0].shape}};
  return {{inputs[0].type, infer_broadcast(node, inputs[0].shape, inputs[1].shape)}};
}

// Shifts past the width give 0; those of signed values to the right keep the sign.
std::int64_t shifted(std::int64_t value, std::int64_t count, bool is_left) {
  constexpr std::int64_t kBits = 64;
  if (count < 0 || count >= kBits) return !is_left && value < 0 ? -1 : 0;
  const auto bits = static_cast<std::uint64_t>(value);
  return is_left ? static_cast<std::int64_t>(bits << static_cast<unsigned>(count)) : value >> count;
}

std::int64_t joined(std::string_view type, std::int64_t a, std::int64_t b) {
  if (type == "BitwiseAnd") return a & b;
  if (type == "BitwiseOr") return a | b;
  if (type == "BitwiseXor") return a ^ b;
  return shifted(a, b, type == "BitwiseLeftShift");
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const bool is_boolean = outputs[0].type() == ElementType::boolean;
  if (node.type == "BitwiseNot") {
    for (std::int64_t i = 0; i < outputs[0].count(); ++i) {
      const std::int64_t value = int_value_at(inputs[0], i);
      set_int(outputs[0], i, is_boolean ? 1 - value : ~value);
    }
    return;
  }
  const Shape& shape = outputs[0].shape();
  std::vector<std::vector<std::int64_t>> strides = {row_major_strides(shape)};
  for (std::size_t i = 0; i < 2; ++i) {
    strides.push_back(aligned_strides(node, i, dense_desc(inputs[i].type(), inputs[i].shape()), shape));
  }
  walk_elements(shape, strides, [&](const std::vector<std::int64_t>& at) {
    set_int(outputs[0], at[0], joined(node.type, int_value_at(inputs[0], at[1]), int_value_at(inputs[1], at[2])));
  });
}

}  // namespace

const OpDescriptor& bitwise_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
