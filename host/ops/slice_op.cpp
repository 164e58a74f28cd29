// SPDX-License-Identifier: Apache-2.0
// Slice: start, stop and step along some axes, as Python slices.
#include "ops/move.hpp"
#include "ops/slice_range.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Slice"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

// One range for each dimension of the input.
std::vector<SliceRange> ranges_of(const Node& node, const Shape& shape, const InputValues& values) {
  const std::vector<std::int64_t> start = ints_at(values, 1);
  const std::vector<std::int64_t> stop = ints_at(values, 2);
  const std::vector<std::int64_t> step = ints_at(values, 3);
  std::vector<std::int64_t> axes;
  if (has_input(values, 4)) {
    axes = ints_at(values, 4);
  } else {
    for (std::size_t i = 0; i < start.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (stop.size() != start.size() || step.size() != start.size() || axes.size() != start.size()) {
    fail_node(node, "has start, stop, step and axes of different lengths");
  }
  std::vector<SliceRange> ranges;
  for (const std::int64_t size : shape) ranges.push_back({0, 1, size});
  const std::vector<std::size_t> places = normalize_axes(node, axes, shape.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (step[i] == 0) fail_node(node, "has a step of 0");
    ranges[places[i]] = python_slice(shape[places[i]], start[i], stop[i], step[i]);
  }
  return ranges;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 4, 5);
  Shape shape;
  for (const SliceRange& range : ranges_of(node, inputs[0].shape, values_of(inputs))) shape.push_back(range.count);
  return {{inputs[0].type, shape}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  Move result{to.shape, {{}, from.offset}, {to.strides, to.offset}};
  const std::vector<SliceRange> ranges = ranges_of(node, from.shape, values);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    result.from.offset_elems += ranges[i].first * from.strides[i];
    result.from.strides.push_back(ranges[i].step * from.strides[i]);
  }
  return result;
}

}  // namespace

const OpDescriptor& slice_op() {
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
