// SPDX-License-Identifier: Apache-2.0
// What operators that look along axes share (Reduce*, SoftMax, MVN, NormalizeL2): a walk over the kept dimensions,
// and inside it one or several passes over the others.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/elementwise.hpp"

namespace headrace {

// Kernels come in two forms: `rows` has vectors along the innermost axis that it looks along, `columns` along the
// innermost kept dimension.
enum class AxisForm { kRows, kColumns };

struct AxisWalk {
  Walk kept;                                       // both operands, strides over the kept dimensions only
  std::vector<std::int64_t> sizes;                 // of the axes after merging, outermost first: three
  std::vector<std::vector<std::int64_t>> strides;  // [operand][axis]
  AxisForm form = AxisForm::kRows;
  std::int64_t count = 1;  // elements along the axes
};

// Plans a walk: operand 0 is written, operand 1 is input 0. Output strides along the axes are 0 where the output has
// one element for all of them. `is_merged` says whether the axes fit the kernels' three loops.
struct AxisPlan {
  AxisWalk walk;
  bool is_merged = true;
};
AxisPlan plan_axis_walk(const TensorDesc& input, std::span<const std::size_t> axes, std::int64_t output_offset,
                        std::span<const std::int64_t> output_strides);

Support supports_axis_walk(const AxisPlan& plan, const Shape& shape);

// Arguments behind those of the walk: sizes 0, 1, 2 of the axes (outermost first), strides of src along them and, where
// `has_dst_strides`, of dst.
std::vector<LowerArg> axis_args(const AxisWalk& walk, bool has_dst_strides);

// "<file>_rows_f32" or "<file>_cols_f32".
KernelInstance axis_instance(std::string_view file, AxisForm form, int vector_width);
std::vector<KernelInstance> axis_instances(std::string_view file);

// Visits every kept index of a dense tensor on the host: visit(first element, offsets of the elements along the axes).
struct AxisLoops {
  std::vector<std::int64_t> starts;   // one per kept index, in row-major order
  std::vector<std::int64_t> offsets;  // of the elements along the axes, from each start
};
AxisLoops axis_loops(const Shape& shape, std::span<const std::size_t> axes);

}  // namespace headrace
