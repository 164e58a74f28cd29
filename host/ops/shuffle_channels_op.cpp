// SPDX-License-Identifier: Apache-2.0
// ShuffleChannels: an axis read as [group, size / group] and written as [size / group, group].
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ShuffleChannels"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("axis", parse_int(raw, "axis", 1));
  attributes.set("group", parse_int(raw, "group", 1));
  return attributes;
}

std::size_t axis_of(const Node& node, const Shape& shape) {
  return normalize_one_axis(node, node.attributes.get_int("axis"), shape.size());
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  const Shape& shape = inputs[0].shape;
  const std::int64_t group = node.attributes.get_int("group");
  const std::size_t axis = axis_of(node, shape);
  if (group < 1 || shape[axis] % group != 0) {
    fail_node(node, "has group " + std::to_string(group) + ", which does not divide axis " + std::to_string(axis) +
                        " of " + to_string(shape));
  }
  return {{inputs[0].type, shape}};
}

Move move(const Node& node, const TensorDesc& from, const InputValues&, std::size_t, const TensorDesc& to) {
  const std::size_t axis = axis_of(node, from.shape);
  const std::int64_t group = node.attributes.get_int("group");
  const std::int64_t members = from.shape[axis] / group;
  Move result{from.shape, {from.strides, from.offset}, {to.strides, to.offset}};
  const auto place = static_cast<std::ptrdiff_t>(axis);
  result.shape[axis] = group;
  result.shape.insert(result.shape.begin() + place + 1, members);
  result.from.strides.insert(result.from.strides.begin() + place, members * from.strides[axis]);
  result.to.strides.insert(result.to.strides.begin() + place + 1, group * to.strides[axis]);
  return result;
}

}  // namespace

const OpDescriptor& shuffle_channels_op() {
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
