// SPDX-License-Identifier: Apache-2.0
// Operators that change a tensor's shape or order but not its elements.
#include <algorithm>
#include <numeric>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_reshape(OnnxContext& c) {
  const PortRef x = c.input(0);
  const bool copies = c.attr_int("allowzero", 0) == 0;
  if (const auto shape = c.attr_ints("shape"); shape && c.opset() < 5) return {c.reshape(x, *shape)};
  return {c.add("Reshape", 1, {x, c.convert(c.input(1), ElementType::i64)}, {{"special_zero", text(copies)}})};
}

// [product of the dimensions before axis, product of the rest]. IR's Reshape keeps dimensions (0) and finds one (-1).
std::vector<PortRef> convert_flatten(OnnxContext& c) {
  const PortRef x = c.input(0);
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  std::int64_t axis = c.attr_int("axis", 1);
  if (axis < -rank || axis > rank) fail(ErrorCode::kBadModel, "axis " + text(axis) + " of rank " + text(rank));
  if (axis < 0) axis += rank;
  if (axis == 0) return {c.reshape(x, {1, -1})};
  if (axis == 1) {
    // 0 copies the first dimension; the rest may be empty, for which -1 has no answer.
    const auto shape = c.static_shape(x);
    if (!shape || count_elems(*shape) != 0) return {c.reshape(x, {0, -1})};
  }
  if (axis == rank) return {c.reshape(x, {-1, 1})};
  const PortRef shape = c.shape_of(x);
  const PortRef first = c.reduce("ReduceProd", c.slice(shape, 0, axis, 0), {0}, true);
  const PortRef second = c.reduce("ReduceProd", c.slice(shape, axis, rank, 0), {0}, true);
  return {c.reshape_to(x, c.concat({first, second}, 0))};
}

// Axes are an attribute up to opset 12, then an input.
std::optional<PortRef> axes_of(OnnxContext& c) {
  if (const auto axes = c.attr_ints("axes"); axes && c.opset() < 13) return c.constant_ints(*axes);
  return c.maybe_input(1);
}

std::vector<PortRef> convert_squeeze(OnnxContext& c) {
  const std::optional<PortRef> axes = axes_of(c);
  if (!axes) return {c.add("Squeeze", 1, {c.input(0)})};
  if (c.ints(*axes) == Ints{}) return {c.input(0)};
  return {c.add("Squeeze", 1, {c.input(0), *axes})};
}

std::vector<PortRef> convert_unsqueeze(OnnxContext& c) {
  const std::optional<PortRef> axes = axes_of(c);
  if (!axes) fail(ErrorCode::kBadModel, "has no axes");
  return {c.add("Unsqueeze", 1, {c.input(0), *axes})};
}

std::vector<PortRef> convert_transpose(OnnxContext& c) {
  const PortRef x = c.input(0);
  if (const auto order = c.attr_ints("perm")) return {c.transpose(x, *order)};
  Ints order = iota(0, static_cast<std::int64_t>(c.rank(x)));
  std::reverse(order.begin(), order.end());
  return {c.transpose(x, order)};
}

std::vector<PortRef> convert_concat(OnnxContext& c) {
  const std::int64_t axis = c.attr_int("axis", 1);  // the default of opset 1
  return {c.add("Concat", 1, c.all_inputs(), {{"axis", text(axis)}})};
}

std::vector<PortRef> outputs_of(PortRef first, std::size_t count) {
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back({first.node, static_cast<std::int32_t>(i)});
  return outputs;
}

// Equal parts, the last one smaller where they don't fit (opset 18).
std::vector<PortRef> convert_split(OnnxContext& c) {
  const PortRef x = c.input(0);
  const std::int64_t axis = c.attr_int("axis", 0);
  const auto count = static_cast<std::int64_t>(c.count_outputs());
  if (count == 0) fail(ErrorCode::kBadModel, "has no outputs");
  std::optional<PortRef> lengths;
  if (c.opset() >= 13) lengths = c.maybe_input(1);
  if (const auto split = c.attr_ints("split"); split && c.opset() < 13) lengths = c.constant_ints(*split);
  if (!lengths && c.has_attribute("num_outputs")) {
    const std::int64_t size = c.dim(x, static_cast<std::size_t>(c.axis(axis, c.rank(x))));
    const std::int64_t part = (size + count - 1) / count;
    Ints parts(static_cast<std::size_t>(count), part);
    parts.back() = size - part * (count - 1);
    if (parts.back() != part) lengths = c.constant_ints(parts);
  }
  if (!lengths) {
    return outputs_of(
        c.add("Split", 1, {x, c.constant_int(axis)}, {{"num_splits", text(count)}}, static_cast<std::size_t>(count)),
        static_cast<std::size_t>(count));
  }
  return outputs_of(c.add("VariadicSplit", 1, {x, c.constant_int(axis), *lengths}, {}, static_cast<std::size_t>(count)),
                    static_cast<std::size_t>(count));
}

// Start and end pick dimensions (opset 15).
std::vector<PortRef> convert_shape(OnnxContext& c) {
  const PortRef x = c.input(0);
  const PortRef shape = c.shape_of(x);
  if (!c.has_attribute("start") && !c.has_attribute("end")) return {shape};
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  const auto clamp = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = clamp(c.attr_int("start", 0));
  return {c.slice(shape, start, std::max(start, clamp(c.attr_int("end", rank))), 0)};
}

std::vector<PortRef> convert_size(OnnxContext& c) {
  return {c.reduce("ReduceProd", c.shape_of(c.input(0)), {0}, false)};
}

// The shape may also have dimensions that the tensor repeats its own over: broadcasting goes both ways.
std::vector<PortRef> convert_expand(OnnxContext& c) {
  return {c.add("Broadcast", 3, {c.input(0), c.input(1)}, {{"mode", "bidirectional"}})};
}

std::vector<PortRef> convert_tile(OnnxContext& c) {
  if (c.opset() < 6) c.refuse("opset " + text(c.opset()) + " of it");
  return {c.add("Tile", 1, {c.input(0), c.input(1)})};
}

std::vector<PortRef> convert_identity(OnnxContext& c) { return {c.input(0)}; }

// In inference the data passes, and the mask is true everywhere.
std::vector<PortRef> convert_dropout(OnnxContext& c) {
  const PortRef x = c.input(0);
  if (const auto mode = c.maybe_input(2); mode && c.opset() >= 12) {
    const auto is_training = c.scalar(*mode);
    const auto ratio = c.has_input(1) ? c.scalar(c.input(1)) : std::optional<double>(0.5);
    if (!is_training || (*is_training != 0 && (!ratio || *ratio != 0))) {
      c.refuse("training_mode: random values are not drawn");
    }
  }
  if (!c.wants_output(1)) return {x};
  const PortRef yes = c.constant_scalar(1, c.opset() < 10 ? c.element_type(x) : ElementType::boolean);
  return {x, c.broadcast(yes, c.shape_of(x))};
}

std::vector<PortRef> convert_depth_to_space(OnnxContext& c) {
  const std::string mode = c.attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") fail(ErrorCode::kBadModel, "mode '" + mode + "'");
  return {c.add(
      "DepthToSpace", 1, {c.input(0)},
      {{"mode", mode == "DCR" ? "blocks_first" : "depth_first"}, {"block_size", text(c.attr_int("blocksize", 1))}})};
}

std::vector<PortRef> convert_space_to_depth(OnnxContext& c) {
  return {c.add("SpaceToDepth", 1, {c.input(0)},
                {{"mode", "blocks_first"}, {"block_size", text(c.attr_int("blocksize", 1))}})};
}

constexpr OnnxConverter kConverters[] = {
    {"Reshape", convert_reshape},
    {"Flatten", convert_flatten},
    {"Squeeze", convert_squeeze},
    {"Unsqueeze", convert_unsqueeze},
    {"Transpose", convert_transpose},
    {"Concat", convert_concat},
    {"Split", convert_split},
    {"Shape", convert_shape},
    {"Size", convert_size},
    {"Expand", convert_expand},
    {"Tile", convert_tile},
    {"Identity", convert_identity},
    {"Dropout", convert_dropout},
    {"DepthToSpace", convert_depth_to_space},
    {"SpaceToDepth", convert_space_to_depth},
};

}  // namespace

std::span<const OnnxConverter> shape_onnx() { return kConverters; }

}  // namespace headrace::detail
