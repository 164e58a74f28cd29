// SPDX-License-Identifier: Apache-2.0
// Lowering of pools to kernels/pool_wide.cl.
#include <algorithm>
#include <optional>
#include <string>

#include "ops/elementwise.hpp"
#include "ops/pool.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

// What a step along each dimension adds to the index of a maximum; last, and 0 where no index is wanted.
constexpr std::size_t kIndexStepArgs = 5;

constexpr std::size_t kSpatialDims = 3;    // the kernel's D, H, W; missing ones have size 1
constexpr std::int64_t kItemsWanted = 16;  // work-items below which channels are shared out too
constexpr int kVectorWidths[] = {16, 8, 4};

KernelInstance value_instance(PoolKind kind, int width) {
  return kind == PoolKind::kMax ? vector_instance("pool_wide", "FORM=0", width, "pool_wide_max_f32")
                                : vector_instance("pool_wide", "FORM=1", width, "pool_wide_avg_f32");
}

KernelInstance index_instance(ElementType type, int width) {
  return vector_instance("pool_wide", "FORM=2", width, "pool_wide_index_" + dtype_suffix(type));
}

// The widest form that suits the device and that it offers.
std::optional<int> choose_width(PoolKind kind, std::span<const TensorDesc> outputs, const KernelCaps& caps) {
  for (const int width : kVectorWidths) {
    if (width > std::max(caps.vector_width, 4) || !caps.offers(value_instance(kind, width))) continue;
    if (outputs.size() == 1 || caps.offers(index_instance(outputs[1].type, width))) return width;
  }
  return std::nullopt;
}

// start, count and divisor of each window: D's, then H's, then W's.
Tensor make_table(const PoolAxes& axes) {
  std::vector<std::int32_t> values;
  for (std::size_t i = axes.size(); i < kSpatialDims; ++i) values.insert(values.end(), {0, 1, 1});
  for (const PoolAxis& axis : axes) {
    for (const PoolWindow& window : axis.windows) {
      for (const std::int64_t value : {window.start, window.count, window.divisor}) {
        values.push_back(static_cast<std::int32_t>(value));
      }
    }
  }
  Tensor table(ElementType::i32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), table.mutable_values<std::int32_t>().begin());
  return table;
}

// Values for D, H, W: `missing` for the dimensions that a lower rank lacks.
template <typename Get>
std::array<std::int64_t, kSpatialDims> spatial_values(std::size_t rank, std::int64_t missing, const Get& get) {
  std::array<std::int64_t, kSpatialDims> values;
  values.fill(missing);
  for (std::size_t i = 0; i < rank; ++i) values[kSpatialDims - rank + i] = get(i);
  return values;
}

void add_ints(KernelLaunch& launch, std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) launch.args.emplace_back(static_cast<std::int32_t>(value));
}

// Strides of batch, D, H and W.
void add_strides(KernelLaunch& launch, const TensorDesc& desc) {
  const std::int64_t batch = desc.strides[0];
  add_ints(launch, std::span(&batch, 1));
  add_ints(launch, spatial_values(desc.shape.size() - 2, 0, [&](std::size_t i) { return desc.strides[i + 2]; }));
}

// Channels that one work-item takes: all of them where there are rows enough to share out.
std::int64_t channel_block(std::int64_t channels, std::int64_t rows, std::int64_t width) {
  const std::int64_t parts = std::max<std::int64_t>(1, (kItemsWanted + rows - 1) / rows);
  const std::int64_t vectors = (channels + width - 1) / width;
  return (vectors + parts - 1) / parts * width;
}

KernelLaunch make_launch(const PoolSpec& spec, const TensorDesc& input, const TensorDesc& output, int width) {
  KernelLaunch launch;
  launch.instance = value_instance(spec.kind, width);
  launch.args = {Operand::input(0), Operand::output(0), Operand::constant(0)};
  const std::size_t rank = spec.axes.size();
  const auto out = spatial_values(rank, 1, [&](std::size_t i) { return output.shape[i + 2]; });
  const std::int64_t channels = output.shape[1];
  const std::int64_t rows = output.shape[0] * out[0] * out[1];
  const std::int64_t block = channel_block(channels, rows, width);
  const std::int64_t sizes[] = {input.offset, output.offset, channels, block, out[0], out[1], out[2]};
  add_ints(launch, sizes);
  add_ints(launch, spatial_values(rank, 1, [&](std::size_t i) { return spec.axes[i].dilation; }));
  add_strides(launch, input);
  add_strides(launch, output);
  launch.args.insert(launch.args.end(), kIndexStepArgs, std::int32_t{0});
  launch.global = {static_cast<std::size_t>((channels + block - 1) / block), static_cast<std::size_t>(out[1]),
                   static_cast<std::size_t>(output.shape[0] * out[0])};
  return launch;
}

// The launch that finds the places of the maxima: the same arguments, another output, and what a step along each
// dimension adds to an index.
KernelLaunch make_index_launch(KernelLaunch launch, const PoolSpec& spec, const TensorDesc& input,
                               const TensorDesc& output, int width) {
  constexpr std::size_t kOutputArg = 1;
  constexpr std::size_t kOutputOffsetArg = 4;
  constexpr std::size_t kOutputStrideArgs = 4;
  launch.instance = index_instance(output.type, width);
  launch.args[kOutputArg] = Operand::output(1);
  launch.args[kOutputOffsetArg] = static_cast<std::int32_t>(output.offset);
  launch.args.resize(launch.args.size() - kOutputStrideArgs - kIndexStepArgs);
  add_strides(launch, output);
  std::vector<std::int64_t> steps = row_major_strides(input.shape);
  std::fill(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(spec.index_axis), 0);
  add_ints(launch, std::span(steps).first(2));
  add_ints(launch, spatial_values(spec.axes.size(), 0, [&](std::size_t i) { return steps[i + 2]; }));
  return launch;
}

}  // namespace

Support pool_supports(PoolKind kind, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                      const KernelCaps& caps) {
  if (inputs[0].desc.type != ElementType::f32) {
    return Support::no("pooling of " + std::string(to_string(inputs[0].desc.type)) + " has no kernel, only of f32");
  }
  if (!choose_width(kind, outputs, caps)) {
    return Support::no("the programmed bitstream lacks " + value_instance(kind, caps.vector_width).entry);
  }
  return supports_int_index(inputs, outputs);
}

LayoutRules pool_layouts() { return {{LayoutRule::kChannelsLast, LayoutRule::kAny}, LayoutRule::kChannelsLast}; }

Lowered pool_lower(const PoolSpec& spec, const TensorDesc& input, std::span<const TensorDesc> outputs,
                   const KernelCaps& caps) {
  Lowered lowered;
  if (outputs[0].count() == 0) return lowered;
  const PoolAxes& axes = spec.axes;
  // The windows follow from the shapes and the node's attributes; the plan adds the node to the key.
  lowered.constants.push_back(
      {"pool_windows:" + to_string(input.shape) + to_string(outputs[0].shape), [axes] { return make_table(axes); }});
  const int width = *choose_width(spec.kind, outputs, caps);
  lowered.launches.push_back(make_launch(spec, input, outputs[0], width));
  if (outputs.size() > 1) {
    lowered.launches.push_back(make_index_launch(lowered.launches[0], spec, input, outputs[1], width));
  }
  return lowered;
}

std::vector<KernelInstance> pool_instances() {
  std::vector<KernelInstance> instances;
  for (const int width : kVectorWidths) {
    instances.push_back(value_instance(PoolKind::kMax, width));
    instances.push_back(value_instance(PoolKind::kAverage, width));
    instances.push_back(index_instance(ElementType::i32, width));
    instances.push_back(index_instance(ElementType::i64, width));
  }
  return instances;
}

}  // namespace headrace
