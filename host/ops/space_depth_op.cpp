// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: blocks of channels become blocks of pixels, and back.
//
// wide[n, c, d1 * b + k1, d2 * b + k2, ...] = deep[n, channel(k, c), d1, d2, ...] with channel = k * C + c
// (blocks_first) or c * b^K + k (depth_first), k = (k1, k2, ...) read as one number, C the channels of `wide`.
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"DepthToSpace", "SpaceToDepth"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("mode", parse_enum(raw, "mode", "blocks_first", {"blocks_first", "depth_first"}));
  attributes.set("block_size", parse_int(raw, "block_size", 1));
  if (attributes.get_int("block_size") < 1) {
    fail(ErrorCode::kBadModel,
         "attribute 'block_size' is " + std::to_string(attributes.get_int("block_size")) + ", expected at least 1");
  }
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 1, 1);
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 3) fail_node(node, "needs a tensor of rank 3 or more, has " + to_string(shape));
  const std::int64_t block = node.attributes.get_int("block_size");
  const bool is_spreading = node.type == "DepthToSpace";
  Shape result = shape;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    const std::int64_t divided = is_spreading ? result[1] : shape[i];
    if (divided % block != 0) {
      fail_node(node, "has blocks of " + std::to_string(block) + " that do not divide " + to_string(shape));
    }
    result[1] = is_spreading ? result[1] / block : result[1] * block;
    result[i] = is_spreading ? shape[i] * block : shape[i] / block;
  }
  return {{inputs[0].type, result}};
}

struct Pair {
  View wide;
  View deep;
};

// Axes: batch, channel of `wide`, then for each spatial axis the block and the place within it.
Move move(const Node& node, const TensorDesc& from, const InputValues&, std::size_t, const TensorDesc& to) {
  const bool is_spreading = node.type == "DepthToSpace";
  const TensorDesc& wide = is_spreading ? to : from;
  const TensorDesc& deep = is_spreading ? from : to;
  const std::int64_t block = node.attributes.get_int("block_size");
  const std::int64_t channels = wide.shape[1];
  const bool is_depth_first = node.attributes.get_string("mode") == "depth_first";
  const std::int64_t blocks = channels == 0 ? 1 : deep.shape[1] / channels;

  Shape shape = {wide.shape[0], channels};
  Pair views{{{wide.strides[0], wide.strides[1]}, wide.offset},
             {{deep.strides[0], deep.strides[1] * (is_depth_first ? blocks : 1)}, deep.offset}};
  std::int64_t place = blocks * (is_depth_first ? 1 : channels);
  for (std::size_t i = 2; i < wide.shape.size(); ++i) {
    place /= block;
    shape.insert(shape.end(), {deep.shape[i], block});
    views.wide.strides.insert(views.wide.strides.end(), {block * wide.strides[i], wide.strides[i]});
    views.deep.strides.insert(views.deep.strides.end(), {deep.strides[i], place * deep.strides[1]});
  }
  return is_spreading ? Move{shape, views.deep, views.wide} : Move{shape, views.wide, views.deep};
}

}  // namespace

const OpDescriptor& space_depth_op() {
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
