// SPDX-License-Identifier: Apache-2.0
// Operators that pick, place, cut, pad or turn round elements.
#include <limits>

#include "core/file.hpp"
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

// Beyond every place, in both directions.
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

PortRef as_i64(TensorflowContext& c, PortRef x) { return c.convert(x, ElementType::i64); }

// A size of -1 means "to the end".
TensorflowValues convert_slice(TensorflowContext& c) {
  const auto rank = static_cast<std::int64_t>(c.rank(c.input(0)));
  const PortRef begins = as_i64(c, c.input(1));
  const PortRef sizes = as_i64(c, c.input(2));
  const PortRef is_open = c.binary("Less", sizes, c.constant_int(0));
  const PortRef ends = c.select(is_open, c.constant_int(kFar), c.binary("Add", begins, sizes));
  const Ints ones(static_cast<std::size_t>(rank), 1);
  return {c.add("Slice", 8, {c.input(0), begins, ends, c.constant_ints(ones), c.constant_ints(iota(0, rank))})};
}

std::string mask_text(const TensorflowContext& c, std::string_view name, std::int64_t count) {
  const std::int64_t bits = c.attr_int(name, 0);
  Ints mask;
  for (std::int64_t i = 0; i < count; ++i) mask.push_back(i < 63 ? bits >> i & 1 : 0);
  return text(mask);
}

TensorflowValues convert_strided_slice(TensorflowContext& c) {
  const std::int64_t count = c.dim(c.input(1), 0);
  if (count > static_cast<std::int64_t>(kMaxFileRank)) fail(ErrorCode::kBadModel, "slices " + text(count) + " axes");
  RawAttributes masks;
  for (const char* name : {"begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"}) {
    masks[name] = mask_text(c, name, count);
  }
  return {c.add("StridedSlice", 1, {c.input(0), as_i64(c, c.input(1)), as_i64(c, c.input(2)), as_i64(c, c.input(3))},
                masks)};
}

TensorflowValues convert_gather(TensorflowContext& c) {
  if (c.node().op == "Gather") return {c.gather(c.input(0), c.input(1), 0)};
  return {c.add("Gather", 8, {c.input(0), c.input(1), as_scalar(c, c.input(2))},
                {{"batch_dims", text(c.attr_int("batch_dims", 0))}})};
}

TensorflowValues convert_gather_nd(TensorflowContext& c) {
  return {c.add("GatherND", 8, {c.input(0), c.input(1)}, {{"batch_dims", "0"}})};
}

// Inputs: indices, updates, shape. Updates of one place add up.
TensorflowValues convert_scatter_nd(TensorflowContext& c) {
  const PortRef zeros = c.broadcast(c.constant_like(0, c.input(1)), c.input(2));
  return {c.add("ScatterNDUpdate", 15, {zeros, c.input(0), c.input(1)}, {{"reduction", "sum"}})};
}

TensorflowValues convert_tensor_scatter(TensorflowContext& c) {
  const std::string_view op = c.node().op;
  const std::string reduction = op == "TensorScatterAdd"   ? "sum"
                                : op == "TensorScatterMax" ? "max"
                                : op == "TensorScatterMin" ? "min"
                                : op == "TensorScatterSub" ? "sub"
                                                           : "none";
  return {c.add("ScatterNDUpdate", 15, {c.input(0), c.input(1), c.input(2)}, {{"reduction", reduction}})};
}

// Pads of every axis as [rank, 2].
TensorflowValues convert_pad(TensorflowContext& c) {
  const PortRef x = c.input(0);
  std::string mode = "constant";
  if (c.node().op == "MirrorPad") {
    const std::string own = c.attr_string("mode", "REFLECT");
    if (own != "REFLECT" && own != "SYMMETRIC") fail(ErrorCode::kBadModel, "mode is " + quote(own));
    mode = own == "REFLECT" ? "reflect" : "symmetric";
  }
  std::vector<PortRef> inputs = {x};
  if (const auto pads = c.ints(c.input(1))) {
    Ints begins;
    Ints ends;
    for (std::size_t i = 0; i + 1 < pads->size(); i += 2) {
      begins.push_back((*pads)[i]);
      ends.push_back((*pads)[i + 1]);
    }
    inputs.push_back(c.constant_ints(begins));
    inputs.push_back(c.constant_ints(ends));
  } else {
    const PortRef pairs = as_i64(c, c.input(1));
    for (const std::int64_t side : {0, 1}) inputs.push_back(c.gather(pairs, c.constant_int(side), 1));
  }
  if (mode == "constant") {
    inputs.push_back(c.node().op == "PadV2" ? as_scalar(c, c.input(2)) : c.constant_like(0, x));
  }
  return {c.add("Pad", 12, inputs, {{"pad_mode", mode}})};
}

// Indices outside the depth give off everywhere, as IR's do.
TensorflowValues convert_one_hot(TensorflowContext& c) {
  const PortRef depth = as_scalar(c, as_i64(c, c.input(1)));
  return {c.add("OneHot", 1, {as_i64(c, c.input(0)), depth, c.input(2), c.input(3)},
                {{"axis", text(c.attr_int("axis", -1))}})};
}

TensorflowValues convert_top_k(TensorflowContext& c) {
  const PortRef k = c.node().op == "TopK" ? c.constant_int(c.attr_int("k", 1)) : as_scalar(c, as_i64(c, c.input(1)));
  const ElementType type = c.attr_element_type("index_type", ElementType::i32);
  const PortRef top = c.add("TopK", 11, {c.input(0), k},
                            {{"axis", "-1"},
                             {"mode", "max"},
                             {"sort", "value"},
                             {"stable", "true"},
                             {"index_element_type", std::string(to_string(type))}},
                            2);
  return outputs_of(top, 2);
}

// The first of equal ones.
TensorflowValues convert_arg(TensorflowContext& c) {
  const PortRef x = c.input(0);
  std::int64_t axis = 0;
  if (c.count_inputs() > 1) {
    const Ints dimension = c.need_ints(c.input(1), "dimension");
    if (dimension.size() != 1) fail(ErrorCode::kBadModel, "its dimension is " + to_string(dimension));
    axis = c.axis(dimension[0], c.rank(x));
  }
  const ElementType type = c.attr_element_type("output_type", ElementType::i64);
  const PortRef top = c.add("TopK", 11, {x, c.constant_int(1)},
                            {{"axis", text(axis)},
                             {"mode", c.node().op == "ArgMax" ? "max" : "min"},
                             {"sort", "value"},
                             {"stable", "true"},
                             {"index_element_type", std::string(to_string(type))}},
                            2);
  return {c.squeeze({top.node, 1}, {axis})};
}

PortRef turned_round(TensorflowContext& c, PortRef x, const Ints& axes) {
  if (axes.empty()) return x;
  const Ints last(axes.size(), -1);
  const Ints far(axes.size(), -kFar);
  return c.add("Slice", 8,
               {x, c.constant_ints(last), c.constant_ints(far), c.constant_ints(last), c.constant_ints(axes)});
}

TensorflowValues convert_reverse(TensorflowContext& c) {
  const Ints given = c.need_ints(c.input(1), "axes");
  if (c.node().op == "ReverseV2") return {turned_round(c, c.input(0), given)};
  Ints axes;  // Reverse: true for each axis to be turned round
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != 0) axes.push_back(static_cast<std::int64_t>(i));
  }
  return {turned_round(c, c.input(0), axes)};
}

TensorflowValues convert_reverse_sequence(TensorflowContext& c) {
  return {c.add("ReverseSequence", 1, {c.input(0), c.input(1)},
                {{"batch_axis", text(c.attr_int("batch_dim", 0))}, {"seq_axis", text(c.attr_int("seq_dim", 0))}})};
}

TensorflowValues convert_cumsum(TensorflowContext& c) {
  return {
      c.add("CumSum", 3, {c.input(0), as_scalar(c, c.input(1))},
            {{"exclusive", text(c.attr_bool("exclusive", false))}, {"reverse", text(c.attr_bool("reverse", false))}})};
}

// The places of what is not zero, one row for each.
TensorflowValues convert_where(TensorflowContext& c) {
  return {c.transpose(c.add("NonZero", 3, {c.input(0)}, {{"output_type", "i64"}}), {1, 0})};
}

constexpr TensorflowConverter kConverters[] = {
    {"Slice", convert_slice},
    {"StridedSlice", convert_strided_slice},
    {"Gather", convert_gather},
    {"GatherV2", convert_gather},
    {"GatherNd", convert_gather_nd},
    {"ScatterNd", convert_scatter_nd},
    {"TensorScatterUpdate", convert_tensor_scatter},
    {"TensorScatterAdd", convert_tensor_scatter},
    {"TensorScatterSub", convert_tensor_scatter},
    {"TensorScatterMax", convert_tensor_scatter},
    {"TensorScatterMin", convert_tensor_scatter},
    {"Pad", convert_pad},
    {"PadV2", convert_pad},
    {"MirrorPad", convert_pad},
    {"OneHot", convert_one_hot},
    {"TopK", convert_top_k},
    {"TopKV2", convert_top_k},
    {"ArgMax", convert_arg},
    {"ArgMin", convert_arg},
    {"Reverse", convert_reverse},
    {"ReverseV2", convert_reverse},
    {"ReverseSequence", convert_reverse_sequence},
    {"Cumsum", convert_cumsum},
    {"Where", convert_where},
};

}  // namespace

std::span<const TensorflowConverter> index_tensorflow() { return kConverters; }

}  // namespace headrace::detail
