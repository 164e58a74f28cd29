// SPDX-License-Identifier: Apache-2.0
#include "ops/checks.hpp"

#include <string>

#include "ops/move.hpp"

namespace headrace {

void check_index_type(const Node& node, std::span<const InferInput> inputs, std::size_t index, std::string_view what) {
  const ElementType type = inputs[index].type;
  if (type == ElementType::i32 || type == ElementType::i64) return;
  fail_node(node, "needs i32 or i64 " + std::string(what) + ", has " + std::string(to_string(type)));
}

void check_float_type(const Node& node, std::span<const InferInput> inputs, std::size_t index, std::string_view what) {
  if (is_floating(inputs[index].type)) return;
  fail_node(node, "needs f32 or f16 " + std::string(what) + ", has " + std::string(to_string(inputs[index].type)));
}

void check_same_types(const Node& node, std::span<const InferInput> inputs,
                      std::initializer_list<std::size_t> indices) {
  const ElementType first = inputs[*indices.begin()].type;
  for (const std::size_t i : indices) {
    if (inputs[i].type == first) continue;
    fail_node(node, "has inputs of types " + std::string(to_string(first)) + " and " +
                        std::string(to_string(inputs[i].type)) + ", which must be equal");
  }
}

void check_rank(const Node& node, const Shape& shape, std::size_t rank, std::string_view what) {
  if (shape.size() == rank) return;
  fail_node(node, "needs " + std::string(what) + " of rank " + std::to_string(rank) + ", has " + to_string(shape));
}

void check_shape(const Node& node, const Shape& shape, const Shape& expected, std::string_view what) {
  if (shape == expected) return;
  fail_node(node, "needs " + std::string(what) + " of shape " + to_string(expected) + ", has " + to_string(shape));
}

std::int64_t checked_index(const Node& node, std::int64_t index, std::int64_t size, std::int64_t place) {
  if (index < -size || index >= size) {
    fail(ErrorCode::kInvalidArgument, (node.source_type.empty() ? node.type : node.source_type) + " has index " +
                                          std::to_string(index) + " at place " + std::to_string(place) +
                                          " for an axis of size " + std::to_string(size));
  }
  return index < 0 ? index + size : index;
}

std::int64_t count_between(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t i = first; i < last; ++i) count *= shape[i];
  return count;
}

}  // namespace headrace
