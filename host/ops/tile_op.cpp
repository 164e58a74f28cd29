// SPDX-License-Identifier: Apache-2.0
// Tile: the whole input repeated along each axis; the shorter of shape and repeats gets leading ones.
#include <algorithm>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Tile"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

std::vector<std::int64_t> with_leading(std::vector<std::int64_t> list, std::size_t rank, std::int64_t value) {
  list.insert(list.begin(), rank - list.size(), value);
  return list;
}

std::vector<std::int64_t> repeats_of(const Node& node, const InputValues& values) {
  const std::vector<std::int64_t> repeats = ints_at(values, 1);
  if (std::any_of(repeats.begin(), repeats.end(), [](std::int64_t count) { return count < 0; })) {
    fail_node(node, "has negative repeats " + to_string(Shape(repeats)));
  }
  return repeats;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  std::vector<std::int64_t> repeats = repeats_of(node, values_of(inputs));
  const std::size_t rank = std::max(repeats.size(), inputs[0].shape.size());
  repeats = with_leading(repeats, rank, 1);
  Shape shape = with_leading(inputs[0].shape, rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (__builtin_mul_overflow(shape[i], repeats[i], &shape[i])) fail_node(node, "has repeats that overflow");
  }
  count_elems(shape);
  return {{inputs[0].type, shape}};
}

// Every axis becomes two: repetition and element.
Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  const std::size_t rank = to.shape.size();
  const std::vector<std::int64_t> repeats = with_leading(repeats_of(node, values), rank, 1);
  const Shape shape = with_leading(from.shape, rank, 1);
  const std::vector<std::int64_t> strides = with_leading(from.strides, rank, 1);
  Move result{{}, {{}, from.offset}, {{}, to.offset}};
  for (std::size_t i = 0; i < rank; ++i) {
    result.shape.insert(result.shape.end(), {repeats[i], shape[i]});
    result.from.strides.insert(result.from.strides.end(), {0, strides[i]});
    result.to.strides.insert(result.to.strides.end(), {shape[i] * to.strides[i], to.strides[i]});
  }
  return result;
}

}  // namespace

const OpDescriptor& tile_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes,
      .parse = parse,
      .infer = infer,
      .reference = move_reference<move>,
      .supports = move_supports<move>,
      .lower = move_lower<move>,
      .instances = copy_instances,
  };
  return op;
}

}  // namespace headrace
