// SPDX-License-Identifier: Apache-2.0
// Layers that move elements: joined, cut, reshaped, reordered, resampled.
#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/layer_parts.hpp"
#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_concat(OldIrContext& c) {
  if (c.count_inputs() == 0) fail(ErrorCode::kBadModel, "has no inputs");
  return {c.concat(c.inputs(), c.get_int({"axis"}, 1))};
}

// The parts are as long as the file says.
std::vector<PortRef> convert_split(OldIrContext& c) {
  const std::int64_t axis = c.axis(c.get_int({"axis"}, 1), c.rank(c.input()));
  if (c.count_outputs() == 1) return {c.input()};
  Ints lengths;
  for (std::size_t i = 0; i < c.count_outputs(); ++i) {
    const Shape& shape = c.output_shape(i);
    if (static_cast<std::size_t>(axis) >= shape.size())
      fail(ErrorCode::kBadModel, "output " + std::to_string(i) + " has no axis " + text(axis));
    lengths.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  const PortRef first =
      c.add("VariadicSplit", 1, {c.input(), c.constant_int(axis), c.constant_ints(lengths)}, {}, lengths.size());
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < lengths.size(); ++i) outputs.push_back({first.node, static_cast<std::int32_t>(i)});
  return outputs;
}

// Reshape, Flatten, Squeeze, Unsqueeze: as the file says of the result. The first number stays open where it is that of
// the input, so that another batch can be given.
std::vector<PortRef> convert_reshape(OldIrContext& c) {
  Ints shape = c.output_shape();
  const Shape from = c.shape(c.input());
  if (count_elems(from) != count_elems(shape)) {
    fail(ErrorCode::kBadModel, "makes " + to_string(shape) + " of " + to_string(from));
  }
  if (!shape.empty() && !from.empty() && shape[0] == from[0]) shape[0] = 0;
  return {c.reshape(c.input(), shape)};
}

std::vector<PortRef> convert_permute(OldIrContext& c) {
  const auto order = c.get_ints({"order"});
  if (!order) fail(ErrorCode::kBadModel, "has no order");
  return {c.transpose(c.input(), *order)};
}

// axis="2,3" with offset="4,4" and dim="10,10", with crop_begin and crop_end, or with a second input for the size.
std::vector<PortRef> convert_crop(OldIrContext& c) {
  const auto axes = c.get_ints({"axis"});
  if (!axes || axes->empty()) fail(ErrorCode::kBadModel, "has no axis");
  const Ints begin = c.get_ints({"offset", "crop_begin"}).value_or(Ints(axes->size(), 0));
  if (begin.size() != axes->size()) fail(ErrorCode::kBadModel, "has offsets " + to_string(begin));
  if (c.count_inputs() == 2) return {add_crop(c, c.input(0), c.input(1), *axes, begin)};
  Ints ends;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<std::size_t>(c.axis((*axes)[i], c.rank(c.input())));
    const Shape& to = c.output_shape();
    if (axis >= to.size() || begin[i] < 0 || begin[i] > c.dim(c.input(), axis) - to[axis]) {
      fail(ErrorCode::kBadModel,
           "the part at offset " + text(begin[i]) + " of axis " + text((*axes)[i]) + " leaves the input");
    }
    ends.push_back(begin[i] + to[axis]);
  }
  const PortRef steps = c.constant_ints(Ints(axes->size(), 1));
  return {c.add("Slice", 8, {c.input(), c.constant_ints(begin), c.constant_ints(ends), steps, c.constant_ints(*axes)})};
}

std::vector<PortRef> convert_tile(OldIrContext& c) {
  const std::size_t rank = c.rank(c.input());
  Ints repeats(rank, 1);
  repeats[static_cast<std::size_t>(c.axis(c.get_int({"axis"}, 1), rank))] = c.get_int({"tiles"}, 0);
  return {c.add("Tile", 1, {c.input(), c.constant_ints(repeats)})};
}

std::vector<PortRef> convert_pad(OldIrContext& c) {
  const auto begin = c.get_ints({"pads_begin"});
  const auto end = c.get_ints({"pads_end"});
  if (!begin || !end) fail(ErrorCode::kBadModel, "has no pads_begin or no pads_end");
  return {c.add("Pad", 1,
                {c.input(), c.constant_ints(*begin), c.constant_ints(*end),
                 c.constant_like(c.get_float({"pad_value"}, 0), c.input())},
                {{"pad_mode", c.get_string({"pad_mode"}, "constant")}})};
}

std::vector<PortRef> convert_gather(OldIrContext& c) {
  return {c.gather(c.input(0), c.convert(c.input(1), ElementType::i32), c.get_int({"axis"}, 0))};
}

// alpha * a * b + beta * c.
std::vector<PortRef> convert_gemm(OldIrContext& c) {
  const PortRef product = c.add("MatMul", 1, {c.input(0), c.input(1)},
                                {{"transpose_a", text(c.get_bool({"transpose_a"}, false))},
                                 {"transpose_b", text(c.get_bool({"transpose_b"}, false))}});
  const PortRef y = add_power(c, product, 1, c.get_float({"alpha"}, 1), 0);
  if (c.count_inputs() < 3) return {y};
  return {c.binary("Add", y, add_power(c, c.input(2), 1, c.get_float({"beta"}, 1), 0))};
}

// Height and width that the file says.
Ints picture_size(const OldIrContext& c) {
  const Shape& shape = c.output_shape();
  if (shape.size() != 4)
    fail(ErrorCode::kBadModel, "its output has shape " + to_string(shape) + ", expected 4 dimensions");
  return {shape[2], shape[3]};
}

std::vector<PortRef> convert_interp(OldIrContext& c) {
  if (c.get_int({"pad_beg"}, 0) != 0 || c.get_int({"pad_end"}, 0) != 0) c.refuse("pads");
  const PortRef size = c.constant_ints(picture_size(c));
  if (c.get_bool({"align_corners"}, true)) return {add_bilinear(c, c.input(), size)};
  return {c.add("Interpolate", 11, {c.input(), size, c.constant_ints({2, 3})},
                {{"mode", "linear_onnx"},
                 {"shape_calculation_mode", "sizes"},
                 {"coordinate_transformation_mode", "asymmetric"},
                 {"nearest_mode", "simple"}})};
}

// Places are those of pixels' middles; halves go up.
std::vector<PortRef> convert_resample(OldIrContext& c) {
  const std::string type = c.get_string({"type"}, "nearest");
  const bool is_nearest = type.ends_with("nearest");
  if (!is_nearest && !type.ends_with("linear")) c.refuse("the type " + quote(type));
  return {c.add("Interpolate", 11, {c.input(), c.constant_ints(picture_size(c)), c.constant_ints({2, 3})},
                {{"mode", is_nearest ? "nearest" : "linear"},
                 {"shape_calculation_mode", "sizes"},
                 {"coordinate_transformation_mode", "half_pixel"},
                 {"nearest_mode", "round_prefer_ceil"},
                 {"antialias", text(!is_nearest && c.get_bool({"antialias"}, false))}})};
}

std::vector<PortRef> convert_shuffle_channels(OldIrContext& c) {
  return {c.add("ShuffleChannels", 1, {c.input()},
                {{"axis", text(c.get_int({"axis"}, 1))}, {"group", text(c.get_int({"group"}, 1))}})};
}

std::vector<PortRef> convert_depth_space(OldIrContext& c) {
  const bool is_spreading = lowercase(c.layer().type) == "depthtospace";
  return {c.add(is_spreading ? "DepthToSpace" : "SpaceToDepth", 1, {c.input()},
                {{"mode", "blocks_first"}, {"block_size", text(c.get_int({"block_size"}, 1))}})};
}

constexpr OldIrConverter kConverters[] = {
    {"Concat", convert_concat},
    {"Split", convert_split},
    {"Slice", convert_split},
    {"Reshape", convert_reshape},
    {"Flatten", convert_reshape},
    {"Squeeze", convert_reshape},
    {"Unsqueeze", convert_reshape},
    {"Permute", convert_permute},
    {"Crop", convert_crop},
    {"Tile", convert_tile},
    {"Pad", convert_pad},
    {"Gather", convert_gather},
    {"Gemm", convert_gemm},
    {"Interp", convert_interp},
    {"Resample", convert_resample},
    {"ShuffleChannels", convert_shuffle_channels},
    {"DepthToSpace", convert_depth_space},
    {"SpaceToDepth", convert_depth_space},
};

}  // namespace

std::span<const OldIrConverter> shape_old_ir() { return kConverters; }

}  // namespace headrace::detail
