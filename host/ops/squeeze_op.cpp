// SPDX-License-Identifier: Apache-2.0
// Squeeze and Unsqueeze: drop and add dimensions of size 1.
#include <algorithm>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Squeeze", "Unsqueeze"};
constexpr std::size_t kAdded = static_cast<std::size_t>(-1);

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("allow_axis_skip", parse_bool(raw, "allow_axis_skip", false));  // Squeeze of opset15
  return attributes;
}

bool contains(const std::vector<std::size_t>& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// A scalar or repeated list of axes, without repetitions.
std::vector<std::size_t> axes_of(const Node& node, const InputValues& values, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : ints_at(values, 1)) {
    const std::size_t place = normalize_one_axis(node, axis, rank);
    if (!contains(axes, place)) axes.push_back(place);
  }
  return axes;
}

std::vector<std::size_t> squeezed(const Node& node, const Shape& shape, const InputValues& values) {
  std::vector<std::size_t> axes;
  if (has_input(values, 1)) axes = axes_of(node, values, shape.size());
  const bool drop_all = axes.empty();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_named = drop_all ? shape[i] == 1 : contains(axes, i);
    if (is_named && shape[i] != 1 && !node.attributes.get_bool("allow_axis_skip")) {
      fail_node(node, "cannot drop axis " + std::to_string(i) + " of " + to_string(shape) + ", its size is not 1");
    }
    if (!is_named || shape[i] != 1) kept.push_back(i);
  }
  return kept;
}

std::vector<std::size_t> unsqueezed(const Node& node, const Shape& shape, const InputValues& values) {
  const std::size_t rank = shape.size() + ints_at(values, 1).size();
  const std::vector<std::size_t> axes = axes_of(node, values, rank);
  std::vector<std::size_t> sources;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size() + axes.size(); ++i) sources.push_back(contains(axes, i) ? kAdded : next++);
  return sources;
}

// For each output dimension the input's dimension, or kAdded.
std::vector<std::size_t> sources_of(const Node& node, const Shape& shape, const InputValues& values) {
  return node.type == "Squeeze" ? squeezed(node, shape, values) : unsqueezed(node, shape, values);
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), node.type == "Squeeze" ? 1 : 2, 2);
  Shape shape;
  for (const std::size_t source : sources_of(node, inputs[0].shape, values_of(inputs))) {
    shape.push_back(source == kAdded ? 1 : inputs[0].shape[source]);
  }
  return {{inputs[0].type, shape}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  Move result{to.shape, {{}, from.offset}, {to.strides, to.offset}};
  const std::vector<std::size_t> sources = sources_of(node, from.shape, values);
  result.from.strides.resize(sources.size());
  std::int64_t natural = 1;  // any stride would do for an added dimension; this one keeps dense tensors dense
  for (std::size_t i = sources.size(); i-- > 0;) {
    result.from.strides[i] = sources[i] == kAdded ? natural : from.strides[sources[i]];
    natural = result.from.strides[i] * std::max<std::int64_t>(to.shape[i], 1);
  }
  return result;
}

}  // namespace

const OpDescriptor& squeeze_op() {
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
