// SPDX-License-Identifier: Apache-2.0
// Operators that change a tensor's shape, order or type but not its elements, and those that ask for shapes.
#include <algorithm>

#include "core/file.hpp"
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

TensorflowValues convert_reshape(TensorflowContext& c) { return {c.reshape_to(c.input(0), c.input(1))}; }

TensorflowValues convert_expand_dims(TensorflowContext& c) {
  return {c.add("Unsqueeze", 1, {c.input(0), as_scalar(c, c.input(1))})};
}

TensorflowValues convert_squeeze(TensorflowContext& c) {
  Ints axes = c.attr_ints("squeeze_dims");
  if (axes.empty()) axes = c.attr_ints("axis");
  if (axes.empty()) return {c.add("Squeeze", 1, {c.input(0)})};
  return {c.squeeze(c.input(0), axes)};
}

TensorflowValues convert_transpose(TensorflowContext& c) { return {c.add("Transpose", 1, {c.input(0), c.input(1)})}; }

TensorflowValues convert_concat(TensorflowContext& c) {
  std::vector<PortRef> parts = c.all_inputs();
  if (parts.size() < 2) fail(ErrorCode::kBadModel, "has " + std::to_string(parts.size()) + " inputs");
  const bool is_first = c.node().op == "Concat";  // where the axis stands
  const PortRef axis_input = is_first ? parts.front() : parts.back();
  parts.erase(is_first ? parts.begin() : parts.end() - 1);
  const Ints axis = c.need_ints(axis_input, "axis");
  if (axis.size() != 1) fail(ErrorCode::kBadModel, "its axis is " + to_string(axis));
  return {c.concat(parts, axis[0])};
}

TensorflowValues convert_pack(TensorflowContext& c) {
  std::vector<PortRef> parts = c.all_inputs();
  if (parts.empty()) fail(ErrorCode::kBadModel, "has no inputs");
  const std::int64_t axis = c.attr_int("axis", 0);
  for (PortRef& part : parts) part = c.unsqueeze(part, {axis});
  return {c.concat(parts, axis)};
}

// More parts than any network has, and few enough to be names.
std::size_t count_of(const TensorflowContext& c, std::string_view attribute) {
  constexpr std::int64_t kMaxParts = 100'000;
  const std::int64_t count = c.attr_int(attribute, 0);
  if (count >= 1 && count <= kMaxParts) return static_cast<std::size_t>(count);
  fail(ErrorCode::kBadModel, quote(attribute) + " is " + text(count));
}

TensorflowValues convert_unpack(TensorflowContext& c) {
  const std::int64_t axis = c.attr_int("axis", 0);
  const std::size_t count = count_of(c, "num");
  const PortRef parts = c.add("Split", 1, {c.input(0), c.constant_int(axis)},
                              {{"num_splits", text(static_cast<std::int64_t>(count))}}, count);
  TensorflowValues outputs;
  for (std::size_t i = 0; i < count; ++i) {
    outputs.emplace_back(c.squeeze({parts.node, static_cast<std::int32_t>(i)}, {axis}));
  }
  return outputs;
}

TensorflowValues convert_split(TensorflowContext& c) {
  const std::size_t count = count_of(c, "num_split");
  const PortRef axis = as_scalar(c, c.input(0));
  return outputs_of(
      c.add("Split", 1, {c.input(1), axis}, {{"num_splits", text(static_cast<std::int64_t>(count))}}, count), count);
}

TensorflowValues convert_split_v(TensorflowContext& c) {
  const std::size_t count = count_of(c, "num_split");
  return outputs_of(c.add("VariadicSplit", 1, {c.input(0), as_scalar(c, c.input(2)), c.input(1)}, {}, count), count);
}

TensorflowValues convert_shape(TensorflowContext& c) {
  const std::string type(to_string(c.attr_element_type("out_type", ElementType::i32)));
  TensorflowValues outputs;
  for (const PortRef x : c.all_inputs()) outputs.emplace_back(c.add("ShapeOf", 3, {x}, {{"output_type", type}}));
  return outputs;
}

TensorflowValues convert_size(TensorflowContext& c) {
  const ElementType type = c.attr_element_type("out_type", ElementType::i32);
  const PortRef shape = c.add("ShapeOf", 3, {c.input(0)}, {{"output_type", std::string(to_string(type))}});
  return {c.reduce("ReduceProd", shape, {0}, false)};
}

TensorflowValues convert_rank(TensorflowContext& c) {
  return {c.constant_scalar(static_cast<double>(c.rank(c.input(0))), ElementType::i32)};
}

// Always a node: an output of the type that it has already needs a tensor of its own.
TensorflowValues convert_cast(TensorflowContext& c) {
  const ElementType type = c.attr_element_type("DstT");
  return {c.add("Convert", 1, {c.input(0)}, {{"destination_type", std::string(to_string(type))}})};
}

TensorflowValues convert_tile(TensorflowContext& c) { return {c.add("Tile", 1, {c.input(0), c.input(1)})}; }

TensorflowValues convert_broadcast_to(TensorflowContext& c) { return {c.broadcast(c.input(0), c.input(1))}; }

TensorflowValues convert_fill(TensorflowContext& c) { return {c.broadcast(c.input(1), c.input(0))}; }

TensorflowValues convert_like(TensorflowContext& c) {
  const double value = c.node().op == "OnesLike" ? 1 : 0;
  return {c.broadcast(c.constant_like(value, c.input(0)), c.shape_of(c.input(0)))};
}

TensorflowValues convert_range(TensorflowContext& c) {
  const PortRef start = as_scalar(c, c.input(0));
  return {c.add("Range", 4, {start, as_scalar(c, c.input(1)), as_scalar(c, c.input(2))},
                {{"output_type", std::string(to_string(c.element_type(start)))}})};
}

TensorflowValues convert_space_depth(TensorflowContext& c) {
  const PortRef y = c.add(c.node().op, 1, {to_channels_first(c, c.input(0), 2)},
                          {{"mode", "blocks_first"}, {"block_size", text(c.attr_int("block_size", 1))}});
  return {from_channels_first(c, y, 2)};
}

// Blocks of the axes behind the batch. Inputs: x, block sizes [M], pads or crops [M, 2].
TensorflowValues convert_space_batch(TensorflowContext& c) {
  const std::size_t rank = c.rank(c.input(0));
  const Ints blocks = c.need_ints(c.input(1), "block_shape");
  const Ints pads = c.need_ints(c.input(2), "paddings");
  if (pads.size() != 2 * blocks.size() || blocks.size() >= rank) {
    fail(ErrorCode::kBadModel, "has blocks " + to_string(blocks) + " for rank " + std::to_string(rank));
  }
  Ints all(rank, 1);
  Ints begins(rank, 0);
  Ints ends(rank, 0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    all[i + 1] = blocks[i];
    begins[i + 1] = pads[2 * i];
    ends[i + 1] = pads[2 * i + 1];
  }
  const std::string_view type = c.node().op == "SpaceToBatchND" ? "SpaceToBatch" : "BatchToSpace";
  return {c.add(type, 2, {c.input(0), c.constant_ints(all), c.constant_ints(begins), c.constant_ints(ends)})};
}

constexpr TensorflowConverter kConverters[] = {
    {"Reshape", convert_reshape},
    {"ExpandDims", convert_expand_dims},
    {"Squeeze", convert_squeeze},
    {"Transpose", convert_transpose},
    {"Concat", convert_concat},
    {"ConcatV2", convert_concat},
    {"Pack", convert_pack},
    {"Unpack", convert_unpack},
    {"Split", convert_split},
    {"SplitV", convert_split_v},
    {"Shape", convert_shape},
    {"ShapeN", convert_shape},
    {"Size", convert_size},
    {"Rank", convert_rank},
    {"Cast", convert_cast},
    {"Tile", convert_tile},
    {"BroadcastTo", convert_broadcast_to},
    {"Fill", convert_fill},
    {"ZerosLike", convert_like},
    {"OnesLike", convert_like},
    {"Range", convert_range},
    {"SpaceToDepth", convert_space_depth},
    {"DepthToSpace", convert_space_depth},
    {"SpaceToBatchND", convert_space_batch},
    {"BatchToSpaceND", convert_space_batch},
};

}  // namespace

std::span<const TensorflowConverter> shape_tensorflow() { return kConverters; }

}  // namespace headrace::detail
