// SPDX-License-Identifier: Apache-2.0
// Broadcast: repeats dimensions of size 1 up to a target shape (numpy, bidirectional) or places the input's dimensions
// at given axes of it (explicit).
#include <algorithm>

#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Broadcast"};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  std::vector<std::string_view> modes = {"numpy", "explicit", "none"};
  if (opset >= 3) modes.push_back("bidirectional");
  // Broadcast-1 shares its mode with auto_broadcast, where OpenVINO writes "none" for explicit.
  const std::string mode = parse_enum(raw, "mode", "numpy", modes);
  attributes.set("mode", mode == "none" ? std::string("explicit") : mode);
  return attributes;
}

[[noreturn]] void fail_shapes(const Node& node, const Shape& shape, const Shape& target) {
  fail_node(node, "cannot repeat " + to_string(shape) + " to " + to_string(target) + " (" +
                      node.attributes.get_string("mode") + ")");
}

Shape target_of(const Node& node, const Shape& shape, const InputValues& values) {
  const Shape target = ints_at(values, 1);
  if (std::any_of(target.begin(), target.end(), [](std::int64_t size) { return size < 0; })) {
    fail_node(node, "has a negative size in its target shape " + to_string(target));
  }
  if (node.attributes.get_string("mode") != "bidirectional") return target;
  const auto both = broadcast_shapes(shape, target);
  if (!both) fail_shapes(node, shape, target);
  return *both;
}

// For each dimension of the input its place in the target.
std::vector<std::size_t> places_of(const Node& node, const Shape& shape, const Shape& target,
                                   const InputValues& values) {
  std::vector<std::size_t> places;
  if (node.attributes.get_string("mode") == "explicit") {
    if (!has_input(values, 2)) fail_node(node, "in explicit mode needs the input axes_mapping");
    places = normalize_axes(node, ints_at(values, 2), target.size());
    if (!std::is_sorted(places.begin(), places.end())) fail_node(node, "has an axes_mapping that is not ascending");
    if (places.size() != shape.size()) fail_shapes(node, shape, target);
  } else {
    if (shape.size() > target.size()) fail_shapes(node, shape, target);
    for (std::size_t i = 0; i < shape.size(); ++i) places.push_back(target.size() - shape.size() + i);
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && shape[i] != target[places[i]]) fail_shapes(node, shape, target);
  }
  return places;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 3);
  const InputValues values = values_of(inputs);
  const Shape target = target_of(node, inputs[0].shape, values);
  places_of(node, inputs[0].shape, target, values);
  return {{inputs[0].type, target}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues& values, std::size_t, const TensorDesc& to) {
  Move result{to.shape, {std::vector<std::int64_t>(to.shape.size(), 0), from.offset}, {to.strides, to.offset}};
  const std::vector<std::size_t> places = places_of(node, from.shape, to.shape, values);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (from.shape[i] != 1 || to.shape[places[i]] == 1) result.from.strides[places[i]] = from.strides[i];
  }
  return result;
}

}  // namespace

const OpDescriptor& broadcast_op() {
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
