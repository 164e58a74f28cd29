// SPDX-License-Identifier: Apache-2.0
// Transpose: permutes dimensions; an empty order reverses them.
#include <numeric>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Transpose"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

std::vector<std::size_t> order_of(const Node& node, const InputValues& values, std::size_t rank) {
  const std::vector<std::int64_t> order = ints_at(values, 1);
  if (order.empty()) {
    std::vector<std::size_t> reversed(rank);
    for (std::size_t i = 0; i < rank; ++i) reversed[i] = rank - 1 - i;
    return reversed;
  }
  if (order.size() != rank) {
    fail_node(node,
              "has an order of " + std::to_string(order.size()) + " axes for a tensor of rank " + std::to_string(rank));
  }
  return normalize_axes(node, order, rank);
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  const Shape& shape = inputs[0].shape;
  Shape result;
  for (const std::size_t axis : order_of(node, values_of(inputs), shape.size())) result.push_back(shape[axis]);
  return {{inputs[0].type, result}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  Move result{to.shape, {{}, from.offset}, {to.strides, to.offset}};
  for (const std::size_t axis : order_of(node, values, from.shape.size())) {
    result.from.strides.push_back(from.strides[axis]);
  }
  return result;
}

}  // namespace

const OpDescriptor& transpose_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = move_reference<move>,
      .supports = move_supports<move>,
      .lower = move_lower<move>,
      .instances = copy_instances,
      .view = move_view<move>,
  };
  return op;
}

}  // namespace headrace
