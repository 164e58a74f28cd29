// SPDX-License-Identifier: Apache-2.0
#include "ops/axis_walk.hpp"

#include <algorithm>
#include <string>

#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::size_t kAxisLoops = 3;  // of the kernels

bool contains(std::span<const std::size_t> axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

AxisPlan plan_axis_walk(const TensorDesc& input, std::span<const std::size_t> axes, std::int64_t output_offset,
                        std::span<const std::int64_t> output_strides) {
  AxisPlan plan;
  Walk& kept = plan.walk.kept;
  kept.operands = {{Operand::output(0), output_offset, {}}, {Operand::input(0), input.offset, {}}};
  Shape along;
  std::vector<std::vector<std::int64_t>> along_strides(2);  // input first: it sets the order
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (contains(axes, i)) {
      along.push_back(input.shape[i]);
      along_strides[0].push_back(input.strides[i]);
      along_strides[1].push_back(output_strides[i]);
    } else {
      kept.shape.push_back(input.shape[i]);
      kept.operands[0].strides.push_back(output_strides[i]);
      kept.operands[1].strides.push_back(input.strides[i]);
    }
  }
  const StridedLoop loop = coalesce(along, along_strides);
  plan.is_merged = loop.dims.size() <= kAxisLoops;
  const std::size_t missing = kAxisLoops - std::min(loop.dims.size(), kAxisLoops);
  plan.walk.sizes.assign(missing, 1);
  plan.walk.sizes.insert(plan.walk.sizes.end(), loop.dims.begin(), loop.dims.end());
  for (const std::size_t operand : {std::size_t{1}, std::size_t{0}}) {
    std::vector<std::int64_t> strides(missing, 0);
    strides.insert(strides.end(), loop.strides[operand].begin(), loop.strides[operand].end());
    plan.walk.strides.push_back(std::move(strides));
  }
  plan.walk.count = count_elems(along);
  kept.weight = std::max<std::int64_t>(1, plan.walk.count);
  const bool is_inner_axis = !loop.dims.empty() && loop.strides[0].back() == 1;
  plan.walk.form = is_inner_axis ? AxisForm::kRows : AxisForm::kColumns;
  return plan;
}

Support supports_axis_walk(const AxisPlan& plan, const Shape& shape) {
  if (!plan.is_merged) {
    return Support::no("shape " + to_string(shape) + " has more than three separate axes that do not merge");
  }
  return supports_walk(plan.walk.kept);
}

std::vector<LowerArg> axis_args(const AxisWalk& walk, bool has_dst_strides) {
  std::vector<LowerArg> args;
  const auto add_all = [&](const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values) args.emplace_back(static_cast<std::int32_t>(value));
  };
  add_all(walk.sizes);
  add_all(walk.strides[1]);
  if (has_dst_strides) add_all(walk.strides[0]);
  return args;
}

KernelInstance axis_instance(std::string_view file, AxisForm form, int vector_width) {
  const bool is_rows = form == AxisForm::kRows;
  const std::string entry = std::string(file) + (is_rows ? "_rows_f32" : "_cols_f32");
  return vector_instance(file, is_rows ? "FORM=0" : "FORM=1", vector_width, entry);
}

std::vector<KernelInstance> axis_instances(std::string_view file) {
  std::vector<KernelInstance> all;
  for (const int width : {16, 8, 4}) {
    for (const AxisForm form : {AxisForm::kRows, AxisForm::kColumns}) all.push_back(axis_instance(file, form, width));
  }
  return all;
}

AxisLoops axis_loops(const Shape& shape, std::span<const std::size_t> axes) {
  const std::vector<std::int64_t> strides = row_major_strides(shape);
  Shape kept;
  Shape along;
  std::vector<std::int64_t> kept_strides;
  std::vector<std::int64_t> along_strides;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_axis = contains(axes, i);
    (is_axis ? along : kept).push_back(shape[i]);
    (is_axis ? along_strides : kept_strides).push_back(strides[i]);
  }
  AxisLoops loops;
  walk_elements(kept, {kept_strides}, [&](const std::vector<std::int64_t>& at) { loops.starts.push_back(at[0]); });
  walk_elements(along, {along_strides}, [&](const std::vector<std::int64_t>& at) { loops.offsets.push_back(at[0]); });
  return loops;
}

}  // namespace headrace
