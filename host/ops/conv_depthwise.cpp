// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_depthwise.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/conv_args.hpp"

namespace headrace {
namespace {

// See split_work in conv_problem.cpp.
constexpr std::int64_t kItemsPerUnit = 8;
constexpr std::int64_t kMinItemFlops = 50'000;

constexpr DepthwiseForm kForms[] = {{16, true}, {8, true}, {4, true}, {1, false}};

// [C, taps] to [taps][C rounded up to vec].
Tensor pack_weights(const Tensor& wei, std::int64_t C, std::int64_t taps, std::int64_t vec) {
  const std::int64_t width = divide_up(C, vec) * vec;
  const Tensor source = wei.aligned_copy();
  const auto from = source.values<float>();
  Tensor packed(ElementType::f32, {taps, width});
  const auto to = packed.mutable_values<float>();
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    for (std::int64_t c = 0; c < C; ++c) {
      to[static_cast<std::size_t>(tap * width + c)] = from[static_cast<std::size_t>(c * taps + tap)];
    }
  }
  return packed;
}

struct Split {
  std::int64_t rows_per_item = 1;
  std::int64_t vectors_per_item = 1;
};

// Whole rows of all channels where there are enough of them; rows next to each other read the same source rows.
Split split_work(const ConvProblem& problem, std::int64_t vec, const KernelCaps& caps) {
  const std::int64_t rows = problem.out[1];
  const std::int64_t vectors = divide_up(problem.G, vec);
  const std::int64_t flops = 2 * problem.pixels() * problem.G * problem.k();
  const std::int64_t wanted = std::clamp(flops / kMinItemFlops, std::int64_t{1}, kItemsPerUnit * caps.compute_units);
  const std::int64_t row_ranges = std::min(rows, divide_up(wanted, problem.N));
  const std::int64_t vector_ranges = std::min(vectors, divide_up(wanted, problem.N * row_ranges));
  return {divide_up(rows, row_ranges), divide_up(vectors, vector_ranges)};
}

}  // namespace

bool fits_depthwise(const ConvShape& shape) {
  // TILE_W and MAX_COLUMNS of depthwise_wide.cl.
  constexpr std::int64_t kTileColumns = 7;
  constexpr std::int64_t kMaxColumns = 32;
  const std::int64_t columns = (kTileColumns - 1) * shape.stride[2] + (shape.kernel[2] - 1) * shape.dilation[2] + 1;
  return columns <= kMaxColumns && !shape.is_transposed && shape.IC == 1 && shape.OC == 1 && shape.kernel[0] == 1 &&
         shape.in[0] == 1 && shape.out[0] == 1 && shape.stride[0] == 1;
}

KernelInstance DepthwiseForm::instance() const {
  if (!is_wide) return {"depthwise_tile.cl", "", "depthwise_tile_f32"};
  return {"depthwise_wide.cl", "VEC=" + std::to_string(vec), "depthwise_wide_f32"};
}

std::vector<Candidate<DepthwiseForm>> depthwise_candidates(std::int64_t channels, const KernelCaps& caps) {
  std::vector<Candidate<DepthwiseForm>> candidates;
  for (const DepthwiseForm& form : kForms) {
    if (form.is_wide != caps.is_wide() || !caps.offers(form.instance())) continue;
    if (form.is_wide && form.vec > std::max(caps.vector_width, 4)) continue;
    candidates.push_back({form, static_cast<double>(divide_up(channels, form.vec))});
  }
  return candidates;
}

std::vector<KernelInstance> all_depthwise_instances() {
  std::vector<KernelInstance> result;
  for (const DepthwiseForm& form : kForms) result.push_back(form.instance());
  return result;
}

namespace {

ArgList common_args(const ConvProblem& problem) {
  ArgList args;
  for (const Operand& operand :
       {problem.src.operand, problem.wei, problem.bias, problem.residual.operand, problem.dst.operand}) {
    args.add(operand);
  }
  args.add_flags(problem.bias, problem.residual.operand);
  for (const ConvTensor* tensor : {&problem.src, &problem.dst, &problem.residual}) args.add(tensor->offset);
  args.add(problem.G);
  for (const Triple* values :
       {&problem.out, &problem.in, &problem.kernel, &problem.stride, &problem.dilation, &problem.pad}) {
    args.add((*values)[1]);
    args.add((*values)[2]);
  }
  for (const ConvTensor* tensor : {&problem.src, &problem.dst, &problem.residual}) {
    args.add(tensor->strides.n);
    args.add(tensor->strides.h);
    args.add(tensor->strides.w);
  }
  return args;
}

std::array<std::size_t, 3> global_size(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z)};
}

}  // namespace

Lowered lower_depthwise(ConvProblem problem, const Tensor& wei, const DepthwiseForm& form, const KernelCaps& caps) {
  Lowered lowered;
  problem.wei = Operand::constant(0);
  lowered.constants.push_back(
      {"depthwise:VEC=" + std::to_string(form.vec),
       [wei, C = problem.G, taps = problem.k(), vec = form.vec] { return pack_weights(wei, C, taps, vec); }});
  ArgList args = common_args(problem);
  KernelLaunch launch;
  launch.instance = form.instance();
  if (form.is_wide) {
    const Split split = split_work(problem, form.vec, caps);
    args.add(split.rows_per_item);
    args.add(split.vectors_per_item);
    launch.global = global_size(divide_up(problem.out[1], split.rows_per_item),
                                divide_up(divide_up(problem.G, form.vec), split.vectors_per_item), problem.N);
  } else {
    constexpr std::size_t kItems = 64;
    const std::size_t items = std::min(kItems, caps.max_group(0));
    launch.global =
        global_size(divide_up(problem.G, static_cast<std::int64_t>(items)) * static_cast<std::int64_t>(items),
                    problem.out[1] * problem.out[2], problem.N);
    launch.local = {items, 1, 1};
  }
  args.add(static_cast<std::int64_t>(problem.activation));
  args.add(problem.alpha);
  args.add(problem.beta);
  launch.args = args.take();
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

}  // namespace headrace
