// SPDX-License-Identifier: Apache-2.0
// Layers that move elements: joined, cut, reshaped, reordered.
#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/caffe/caffe_context.hpp"
#include "formats/import/layer_parts.hpp"

namespace headrace::detail {
namespace {

// `axis`, or the name that it had before blobs had any number of axes.
std::int64_t axis_of(const CaffeParams& params, const char* old_name) {
  if (params.has("axis") && params.has(old_name)) {
    fail(ErrorCode::kBadModel, "has both axis and " + std::string(old_name) + ", expected one");
  }
  return params.get_int("axis", params.get_int(old_name, 1));
}

std::vector<PortRef> convert_concat(CaffeContext& c) {
  c.need_inputs(1, 1 << 20);
  return {c.concat(c.inputs(), axis_of(c.params("concat_param"), "concat_dim"))};
}

std::vector<PortRef> convert_slice(CaffeContext& c) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("slice_param");
  const PortRef axis = c.constant_int(axis_of(params, "slice_dim"));
  const Ints points = params.ints("slice_point");
  const std::size_t count = c.count_outputs();
  if (count == 0) fail(ErrorCode::kBadModel, "has no tops");
  if (!points.empty() && points.size() + 1 != count) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(points.size()) + " slice points and " + std::to_string(count) +
                                   " tops, expected one point less than tops");
  }
  if (count == 1) return {c.input()};
  PortRef first;
  if (points.empty()) {
    first = c.add("Split", 1, {c.input(), axis}, {{"num_splits", std::to_string(count)}}, count);
  } else {
    Ints lengths;
    std::int64_t last = 0;
    for (const std::int64_t point : points) {
      if (point <= last) fail(ErrorCode::kBadModel, "its slice points " + to_string(points) + " do not grow");
      lengths.push_back(point - last);
      last = point;
    }
    lengths.push_back(-1);
    first = c.add("VariadicSplit", 1, {c.input(), axis, c.constant_ints(lengths)}, {}, count);
  }
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back({first.node, static_cast<std::int32_t>(i)});
  return outputs;
}

std::vector<PortRef> convert_flatten(CaffeContext& c) {
  const CaffeParams& params = c.params("flatten_param");
  const std::size_t rank = c.rank(c.input());
  const std::size_t first = caffe_axis(c, params.get_int("axis", 1));
  const std::size_t last = caffe_axis(c, params.get_int("end_axis", -1));
  if (last < first) fail(ErrorCode::kBadModel, "end_axis lies before axis");
  Ints shape(first, 0);
  shape.push_back(-1);
  for (std::size_t i = last + 1; i < rank; ++i) shape.push_back(c.dim(c.input(), i));
  return {c.reshape(c.input(), shape)};
}

// `num_axes` axes from `axis` on are replaced by `shape`, where 0 stands for the input's own number at that place.
std::vector<PortRef> convert_reshape(CaffeContext& c) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("reshape_param");
  const CaffeParams given = params.message("shape");
  const Ints dims = given.ints("dim");
  std::int64_t first = params.get_int("axis", 0);
  const std::int64_t num_axes = params.get_int("num_axes", -1);
  const auto rank = c.maybe_rank(c.input());
  if (first < 0) first += static_cast<std::int64_t>(c.rank(c.input())) + 1;  // -1 is behind the last
  if (num_axes < -1 || first < 0 || static_cast<std::size_t>(first) > rank.value_or(kMaxFileRank)) {
    fail(ErrorCode::kBadModel, "axis is " + text(first) + ", num_axes " + text(num_axes));
  }
  Ints shape(static_cast<std::size_t>(first), 0);
  shape.insert(shape.end(), dims.begin(), dims.end());
  if (num_axes != -1) {
    for (auto i = static_cast<std::size_t>(first + num_axes); i < c.rank(c.input()); ++i) {
      shape.push_back(c.dim(c.input(), i));
    }
  }
  if (shape.empty()) fail(ErrorCode::kBadModel, "has no dimensions");
  return {c.reshape(c.input(), shape)};
}

std::vector<PortRef> convert_crop(CaffeContext& c) {
  c.need_inputs(2);
  const CaffeParams& params = c.params("crop_param");
  const std::size_t first = caffe_axis(c, params.get_int("axis", 2));
  const Ints axes = iota(static_cast<std::int64_t>(first), static_cast<std::int64_t>(c.rank(c.input())));
  Ints offsets = params.ints("offset");
  if (offsets.empty()) offsets = {0};
  if (offsets.size() == 1) offsets.assign(axes.size(), offsets[0]);
  if (offsets.size() != axes.size()) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(offsets.size()) + " offsets for " + std::to_string(axes.size()) + " axes");
  }
  return {add_crop(c, c.input(), c.input(1), axes, offsets)};
}

std::vector<PortRef> convert_tile(CaffeContext& c) {
  const CaffeParams& params = c.params("tile_param");
  Ints repeats(c.rank(c.input()), 1);
  repeats[caffe_axis(c, params.get_int("axis", 1))] = params.get_int("tiles", 0);
  return {c.add("Tile", 1, {c.input(), c.constant_ints(repeats)})};
}

// The axes that are not named follow in their order.
std::vector<PortRef> convert_permute(CaffeContext& c) {
  Ints order = c.params("permute_param").ints("order");
  const auto rank = static_cast<std::int64_t>(c.rank(c.input()));
  for (const std::int64_t axis : iota(0, rank)) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
  }
  if (static_cast<std::int64_t>(order.size()) != rank) fail(ErrorCode::kBadModel, "order is " + to_string(order));
  return {c.transpose(c.input(), order)};
}

std::vector<PortRef> convert_shuffle_channel(CaffeContext& c) {
  const std::int64_t group = c.params("shuffle_channel_param").get_int("group", 1);
  return {c.add("ShuffleChannels", 1, {c.input()}, {{"axis", "1"}, {"group", text(group)}})};
}

// Of equal elements Caffe takes the last: the axis is read backwards, since TopK takes the first.
std::vector<PortRef> convert_arg_max(CaffeContext& c) {
  const CaffeParams& params = c.params("argmax_param");
  const bool gives_values = params.get_bool("out_max_val", false);
  const bool has_axis = params.has("axis");
  PortRef x = c.input();
  std::int64_t axis = 1;
  if (has_axis) {
    axis = static_cast<std::int64_t>(caffe_axis(c, params.get_int("axis", 0)));
  } else {
    x = c.reshape(x, {0, -1});
  }
  const PortRef size = c.gather(c.shape_of(x), c.constant_ints({axis}), 0);
  constexpr std::int64_t kBeforeAll = -(std::int64_t{1} << 40);
  const PortRef backwards =
      c.add("Slice", 8,
            {x, c.constant_ints({-1}), c.constant_ints({kBeforeAll}), c.constant_ints({-1}), c.constant_ints({axis})});
  const PortRef best =
      c.add("TopK", 3, {backwards, c.constant_int(params.get_int("top_k", 1))},
            {{"axis", text(axis)}, {"mode", "max"}, {"sort", "value"}, {"index_element_type", "i64"}}, 2);
  const PortRef last = c.binary("Subtract", size, c.constant_ints({1}));
  const PortRef places = c.convert(c.binary("Subtract", last, PortRef{best.node, 1}), ElementType::f32);
  if (has_axis) return {gives_values ? best : places};
  // [N, 1, k]: places; [N, 2, k]: places, then values.
  const PortRef rows = c.unsqueeze(places, {1});
  return {gives_values ? c.concat({rows, c.unsqueeze(best, {1})}, 1) : rows};
}

// Sums over all axes from `axis` on.
std::vector<PortRef> convert_reduction(CaffeContext& c) {
  const CaffeParams& params = c.params("reduction_param");
  const std::string operation =
      params.get_enum("operation", "SUM", {{"SUM", "1"}, {"ASUM", "2"}, {"SUMSQ", "3"}, {"MEAN", "4"}});
  const auto first = static_cast<std::int64_t>(caffe_axis(c, params.get_int("axis", 0)));
  PortRef x = c.input();
  if (operation == "ASUM") x = c.unary("Abs", x);
  if (operation == "SUMSQ") x = c.binary("Multiply", x, x);
  const PortRef y = c.reduce(operation == "MEAN" ? "ReduceMean" : "ReduceSum", x,
                             iota(first, static_cast<std::int64_t>(c.rank(c.input()))), false);
  return {add_power(c, y, 1, params.get_float("coeff", 1), 0)};
}

constexpr CaffeConverter kConverters[] = {
    {"Concat", convert_concat},   {"Slice", convert_slice},
    {"Flatten", convert_flatten}, {"Reshape", convert_reshape},
    {"Crop", convert_crop},       {"Tile", convert_tile},
    {"Permute", convert_permute}, {"ShuffleChannel", convert_shuffle_channel},
    {"ArgMax", convert_arg_max},  {"Reduction", convert_reduction},
};

}  // namespace

std::span<const CaffeConverter> shape_caffe() { return kConverters; }

}  // namespace headrace::detail
