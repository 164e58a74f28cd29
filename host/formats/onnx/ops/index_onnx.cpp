// SPDX-License-Identifier: Apache-2.0
// Operators that pick, place, cut or pad elements.
#include <limits>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

// Beyond every place, in both directions.
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

// Indices below zero count from the end: adds `sizes` to them.
PortRef wrap_negative(OnnxContext& c, PortRef indices, PortRef sizes) {
  if (const auto value = c.value(indices)) {
    bool is_negative = false;
    for (const std::int64_t index : to_int64s(*value)) is_negative = is_negative || index < 0;
    if (!is_negative) return indices;
  }
  const PortRef own = c.convert(sizes, c.element_type(indices));
  return c.select(c.binary("Less", indices, c.constant_like(0, indices)), c.binary("Add", indices, own), indices);
}

PortRef size_along(OnnxContext& c, PortRef x, std::int64_t axis) {
  return c.gather(c.shape_of(x), c.constant_int(axis), 0);
}

std::vector<PortRef> convert_gather(OnnxContext& c) {
  return {c.gather(c.input(0), c.input(1), c.attr_int("axis", 0))};
}

std::vector<PortRef> convert_gather_elements(OnnxContext& c) {
  const std::int64_t axis = c.attr_int("axis", 0);
  const PortRef indices = wrap_negative(c, c.input(1), size_along(c, c.input(0), axis));
  return {c.add("GatherElements", 6, {c.input(0), indices}, {{"axis", text(axis)}})};
}

// The sizes that the last dimension of GatherND's and ScatterND's indices counts in.
PortRef indexed_sizes(OnnxContext& c, PortRef data, PortRef indices, std::int64_t first) {
  const std::int64_t count = c.dim(indices, c.rank(indices) - 1);
  return c.slice(c.shape_of(data), first, first + count, 0);
}

std::vector<PortRef> convert_gather_nd(OnnxContext& c) {
  const std::int64_t batch_dims = c.attr_int("batch_dims", 0);
  const PortRef indices = wrap_negative(c, c.input(1), indexed_sizes(c, c.input(0), c.input(1), batch_dims));
  return {c.add("GatherND", 8, {c.input(0), indices}, {{"batch_dims", text(batch_dims)}})};
}

std::string reduction_of(const OnnxContext& c) {
  const std::string reduction = c.attr_string("reduction", "none");
  return reduction == "add" ? "sum" : reduction == "mul" ? "prod" : reduction;
}

std::vector<PortRef> convert_scatter_elements(OnnxContext& c) {
  const PortRef axis = c.constant_int(c.attr_int("axis", 0));
  const PortRef indices = wrap_negative(c, c.input(1), size_along(c, c.input(0), c.attr_int("axis", 0)));
  const std::string reduction = reduction_of(c);
  if (reduction == "none") return {c.add("ScatterElementsUpdate", 3, {c.input(0), indices, c.input(2), axis})};
  return {c.add("ScatterElementsUpdate", 12, {c.input(0), indices, c.input(2), axis},
                {{"reduction", reduction}, {"use_init_val", "true"}})};
}

std::vector<PortRef> convert_scatter_nd(OnnxContext& c) {
  const PortRef indices = wrap_negative(c, c.input(1), indexed_sizes(c, c.input(0), c.input(1), 0));
  const std::string reduction = reduction_of(c);
  if (reduction == "none") return {c.add("ScatterNDUpdate", 3, {c.input(0), indices, c.input(2)})};
  return {c.add("ScatterNDUpdate", 15, {c.input(0), indices, c.input(2)}, {{"reduction", reduction}})};
}

PortRef as_i64(OnnxContext& c, PortRef x) { return c.convert(x, ElementType::i64); }

// An end of INT32_MAX or INT64_MAX means "to the end", also where the step leads to the beginning, as ONNX Runtime
// reads it.
PortRef slice_ends(OnnxContext& c, PortRef ends, std::optional<PortRef> steps) {
  constexpr std::int64_t kToEnd = std::numeric_limits<std::int32_t>::max();
  if (!steps) return ends;
  const auto known_ends = c.ints(ends);
  const auto known_steps = c.ints(*steps);
  if (known_steps) {
    bool is_negative = false;
    for (const std::int64_t step : *known_steps) is_negative = is_negative || step < 0;
    if (!is_negative) return ends;
  }
  if (known_ends && known_steps && known_ends->size() == known_steps->size()) {
    Ints result = *known_ends;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const bool is_open = result[i] == kToEnd || result[i] == std::numeric_limits<std::int64_t>::max();
      if (is_open && (*known_steps)[i] < 0) result[i] = -kFar;
    }
    return c.constant_ints(result);
  }
  const PortRef is_back = c.binary("Less", *steps, c.constant_int(0));
  const PortRef is_open = c.binary("LogicalOr", c.binary("Equal", ends, c.constant_int(kToEnd)),
                                   c.binary("Equal", ends, c.constant_int(std::numeric_limits<std::int64_t>::max())));
  return c.select(c.binary("LogicalAnd", is_back, is_open), c.constant_int(-kFar), ends);
}

std::vector<PortRef> convert_slice(OnnxContext& c) {
  const PortRef x = c.input(0);
  if (c.opset() < 10) {
    const Ints starts = c.attr_ints("starts").value_or(Ints{});
    const Ints ends = c.attr_ints("ends").value_or(Ints{});
    const Ints axes = c.attr_ints("axes").value_or(iota(0, static_cast<std::int64_t>(starts.size())));
    return {c.add("Slice", 8,
                  {x, c.constant_ints(starts), c.constant_ints(ends), c.constant_ints(Ints(starts.size(), 1)),
                   c.constant_ints(axes)})};
  }
  const PortRef starts = as_i64(c, c.input(1));
  std::optional<PortRef> steps;
  if (c.has_input(4)) steps = as_i64(c, c.input(4));
  const PortRef ends = slice_ends(c, as_i64(c, c.input(2)), steps);
  if (!steps) steps = c.broadcast(c.constant_int(1), c.shape_of(starts));
  std::vector<PortRef> inputs = {x, starts, ends, *steps};
  if (c.has_input(3)) inputs.push_back(as_i64(c, c.input(3)));
  return {c.add("Slice", 8, inputs)};
}

PortRef pad_with(OnnxContext& c, PortRef begins, PortRef ends, std::optional<PortRef> value) {
  const PortRef x = c.input(0);
  const std::string mode = c.attr_string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") c.refuse("mode '" + mode + "'");
  std::vector<PortRef> inputs = {x, begins, ends};
  if (mode == "constant") {
    PortRef fill = value ? *value : c.constant_like(0, x);
    if (c.maybe_rank(fill).value_or(0) != 0) fill = c.reshape(fill, {});
    inputs.push_back(fill);
  }
  return c.add("Pad", 12, inputs, {{"pad_mode", mode}});
}

// Pads of some axes as pads of all; opset 18.
Ints all_pads(OnnxContext& c, const Ints& pads, const Ints& axes) {
  const std::size_t rank = c.rank(c.input(0));
  if (pads.size() != 2 * axes.size()) fail(ErrorCode::kBadModel, "has " + std::to_string(pads.size()) + " pads");
  Ints all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(c.axis(axes[i], rank));
    all[axis] = pads[i];
    all[rank + axis] = pads[axes.size() + i];
  }
  return all;
}

std::vector<PortRef> pad_by_constants(OnnxContext& c, const Ints& pads, std::optional<PortRef> value) {
  if (pads.size() % 2 != 0) fail(ErrorCode::kBadModel, "has " + std::to_string(pads.size()) + " pads");
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  return {pad_with(c, c.constant_ints({pads.begin(), middle}), c.constant_ints({middle, pads.end()}), value)};
}

std::vector<PortRef> convert_pad(OnnxContext& c) {
  if (c.opset() < 11) {
    const Ints pads = c.attr_ints(c.opset() < 2 ? "paddings" : "pads").value_or(Ints{});
    return pad_by_constants(c, pads, c.constant_like(c.attr_float("value", 0), c.input(0)));
  }
  const auto pads = c.ints(c.input(1));
  if (c.has_input(3)) {
    const Ints axes = c.need_ints(c.input(3), "axes input");
    return pad_by_constants(c, all_pads(c, c.need_ints(c.input(1), "pads input"), axes), c.maybe_input(2));
  }
  if (pads) return pad_by_constants(c, *pads, c.maybe_input(2));
  const auto rank = static_cast<std::int64_t>(c.rank(c.input(0)));
  return {pad_with(c, c.slice(c.input(1), 0, rank, 0), c.slice(c.input(1), rank, 2 * rank, 0), c.maybe_input(2))};
}

// Indices may be below zero (counted from the end) and, by ONNX's word, of any number type.
std::vector<PortRef> convert_one_hot(OnnxContext& c) {
  PortRef depth = as_i64(c, c.input(1));
  if (c.maybe_rank(depth).value_or(0) != 0) depth = c.reshape(depth, {});
  PortRef indices = as_i64(c, c.input(0));
  indices = c.select(c.binary("Less", indices, c.constant_int(0)), c.binary("Add", indices, depth), indices);
  const PortRef off = c.gather(c.input(2), c.constant_int(0), 0);
  const PortRef on = c.gather(c.input(2), c.constant_int(1), 0);
  return {c.add("OneHot", 1, {indices, depth, on, off}, {{"axis", text(c.attr_int("axis", -1))}})};
}

std::vector<PortRef> convert_topk(OnnxContext& c) {
  PortRef k = c.opset() < 10 ? c.constant_int(c.attr_int("k", 1)) : as_i64(c, c.input(1));
  if (c.maybe_rank(k).value_or(0) != 0) k = c.reshape(k, {});
  const PortRef top = c.add("TopK", 11, {c.input(0), k},
                            {{"axis", text(c.attr_int("axis", -1))},
                             {"mode", c.attr_int("largest", 1) != 0 ? "max" : "min"},
                             {"sort", "value"},
                             {"stable", "true"},
                             {"index_element_type", "i64"}},
                            2);
  return {top, {top.node, 1}};
}

std::vector<PortRef> convert_reverse_sequence(OnnxContext& c) {
  return {c.add("ReverseSequence", 1, {c.input(0), c.input(1)},
                {{"batch_axis", text(c.attr_int("batch_axis", 1))}, {"seq_axis", text(c.attr_int("time_axis", 0))}})};
}

// Places as columns: [rank, count].
std::vector<PortRef> convert_non_zero(OnnxContext& c) {
  return {c.add("NonZero", 3, {c.input(0)}, {{"output_type", "i64"}})};
}

// Picks the slices whose condition is true.
std::vector<PortRef> convert_compress(OnnxContext& c) {
  const bool is_flat = !c.has_attribute("axis");
  const PortRef x = is_flat ? c.reshape(c.input(0), {-1}) : c.input(0);
  const PortRef places = c.add("NonZero", 3, {c.input(1)}, {{"output_type", "i64"}});
  return {c.gather(x, c.reshape(places, {-1}), is_flat ? 0 : c.attr_int("axis", 0))};
}

// Outputs: the values, their first places, for each element the place of its value, and how often each occurs.
std::vector<PortRef> convert_unique(OnnxContext& c) {
  std::vector<PortRef> inputs = {c.input(0)};
  if (c.has_attribute("axis")) inputs.push_back(c.constant_int(c.attr_int("axis", 0)));
  const PortRef first = c.add(
      "Unique", 10, inputs,
      {{"sorted", text(c.attr_int("sorted", 1) != 0)}, {"index_element_type", "i64"}, {"count_element_type", "i64"}},
      4);
  return {first, {first.node, 1}, {first.node, 2}, {first.node, 3}};
}

constexpr OnnxConverter kConverters[] = {
    {"Unique", convert_unique},
    {"Gather", convert_gather},
    {"GatherElements", convert_gather_elements},
    {"GatherND", convert_gather_nd},
    {"Scatter", convert_scatter_elements},
    {"ScatterElements", convert_scatter_elements},
    {"ScatterND", convert_scatter_nd},
    {"Slice", convert_slice},
    {"Pad", convert_pad},
    {"OneHot", convert_one_hot},
    {"TopK", convert_topk},
    {"ReverseSequence", convert_reverse_sequence},
    {"NonZero", convert_non_zero},
    {"Compress", convert_compress},
};

}  // namespace

std::span<const OnnxConverter> index_onnx() { return kConverters; }

}  // namespace headrace::detail
