// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, and sums and maxima that keep their places.
#include <limits>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

// Axes are an attribute up to opset 17 (ReduceSum: 12), then an input. Nothing means all axes, or none where
// noop_with_empty_axes is set; the caller then returns the elements as they are.
std::optional<PortRef> axes_of(OnnxContext& c) {
  const bool is_input = c.opset() >= (c.node().op_type == "ReduceSum" ? 13 : 18);
  std::optional<PortRef> axes;
  if (is_input) {
    axes = c.maybe_input(1);
    if (axes && c.static_shape(*axes) == Shape{0}) axes.reset();
  } else if (const auto list = c.attr_ints("axes"); list && !list->empty()) {
    axes = c.constant_ints(*list);
  }
  if (axes || c.attr_int("noop_with_empty_axes", 0) != 0) return axes;
  return c.constant_ints(iota(0, static_cast<std::int64_t>(c.rank(c.input(0)))));
}

PortRef reduce(OnnxContext& c, std::string_view type, PortRef x, PortRef axes, bool keeps_dims) {
  return c.add(type, type == "ReduceL1" || type == "ReduceL2" ? 4 : 1, {x, axes}, {{"keep_dims", text(keeps_dims)}});
}

// log(sum(exp(x))) from the distance to the largest element, which may be infinite.
PortRef log_sum_exp(OnnxContext& c, PortRef x, PortRef axes, bool keeps_dims) {
  const PortRef largest = reduce(c, "ReduceMax", x, axes, true);
  const PortRef is_finite = c.add("IsFinite", 10, {largest});
  const PortRef base = c.select(is_finite, largest, c.constant_like(0, x));
  const PortRef sum = reduce(c, "ReduceSum", c.unary("Exp", c.binary("Subtract", x, base)), axes, true);
  const PortRef result = c.binary("Add", c.unary("Log", sum), base);
  return keeps_dims ? result : c.add("Squeeze", 1, {result, axes});
}

std::vector<PortRef> convert_reduce(OnnxContext& c) {
  const std::string type = c.type();
  PortRef x = c.input(0);
  const std::optional<PortRef> axes = axes_of(c);
  const bool keeps_dims = c.attr_int("keepdims", 1) != 0;
  if (type == "ReduceSumSquare") x = c.binary("Multiply", x, x);
  if (!axes) {
    // No axes: every element is its own sum, whose norm is its absolute value.
    if (type == "ReduceL1" || type == "ReduceL2") return {c.unary("Abs", x)};
    if (type == "ReduceLogSum") return {c.unary("Log", x)};
    return {x};
  }
  if (type == "ReduceLogSumExp") return {log_sum_exp(c, x, *axes, keeps_dims)};
  if (type == "ReduceLogSum") return {c.unary("Log", reduce(c, "ReduceSum", x, *axes, keeps_dims))};
  if (type == "ReduceSumSquare") return {reduce(c, "ReduceSum", x, *axes, keeps_dims)};
  if (c.element_type(x) == ElementType::boolean && (type == "ReduceMax" || type == "ReduceMin")) {
    return {reduce(c, type == "ReduceMax" ? "ReduceLogicalOr" : "ReduceLogicalAnd", x, *axes, keeps_dims)};
  }
  return {reduce(c, type, x, *axes, keeps_dims)};
}

// The place of the largest or smallest element: the first one, or the last where select_last_index is set.
std::vector<PortRef> convert_arg(OnnxContext& c) {
  const std::int64_t axis = c.attr_int("axis", 0);
  const bool is_last = c.attr_int("select_last_index", 0) != 0;
  PortRef x = c.input(0);
  if (is_last) {
    x = c.add("Slice", 8,
              {x, c.constant_ints({-1}), c.constant_ints({std::numeric_limits<std::int32_t>::min()}),
               c.constant_ints({-1}), c.constant_ints({axis})});
  }
  const PortRef top = c.add("TopK", 11, {x, c.constant_int(1)},
                            {{"axis", text(axis)},
                             {"mode", c.node().op_type == "ArgMax" ? "max" : "min"},
                             {"sort", "value"},
                             {"stable", "true"},
                             {"index_element_type", "i64"}},
                            2);
  PortRef index{top.node, 1};
  if (is_last) {
    const PortRef size = c.gather(c.shape_of(x), c.constant_int(axis), 0);
    index = c.binary("Subtract", c.binary("Subtract", size, c.constant_int(1)), index);
  }
  return {c.attr_int("keepdims", 1) != 0 ? index : c.squeeze(index, {axis})};
}

std::vector<PortRef> convert_cum_sum(OnnxContext& c) {
  PortRef axis = c.input(1);
  if (c.maybe_rank(axis).value_or(0) != 0) axis = c.reshape(axis, {});
  return {
      c.add("CumSum", 3, {c.input(0), axis},
            {{"exclusive", text(c.attr_int("exclusive", 0) != 0)}, {"reverse", text(c.attr_int("reverse", 0) != 0)}})};
}

constexpr OnnxConverter kConverters[] = {
    {"ReduceSum", convert_reduce},       {"ReduceMean", convert_reduce},   {"ReduceMax", convert_reduce},
    {"ReduceMin", convert_reduce},       {"ReduceProd", convert_reduce},   {"ReduceL1", convert_reduce},
    {"ReduceL2", convert_reduce},        {"ReduceLogSum", convert_reduce}, {"ReduceLogSumExp", convert_reduce},
    {"ReduceSumSquare", convert_reduce}, {"ArgMax", convert_arg},          {"ArgMin", convert_arg},
    {"CumSum", convert_cum_sum},
};

}  // namespace

std::span<const OnnxConverter> reduce_onnx() { return kConverters; }

}  // namespace headrace::detail
