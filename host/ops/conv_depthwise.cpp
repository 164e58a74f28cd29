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

KernelInstance wide_instance(int vec) {
  return {"depthwise_wide.cl", "VEC=" + std::to_string(vec), "depthwise_wide_f32"};
}

constexpr int kWidths[] = {16, 8, 4};

int instance_width(const KernelCaps& caps) {
  for (const int vec : kWidths) {
    if (vec <= std::max(caps.vector_width, 4) && caps.offers(wide_instance(vec))) return vec;
  }
  return 0;
}

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
  return !shape.is_transposed && shape.IC == 1 && shape.OC == 1 && shape.kernel[0] == 1 && shape.in[0] == 1 &&
         shape.out[0] == 1 && shape.stride[0] == 1;
}

std::optional<KernelInstance> choose_depthwise_instance(const ConvShape& /*shape*/, const KernelCaps& caps) {
  const int vec = instance_width(caps);
  if (vec == 0) return std::nullopt;
  return wide_instance(vec);
}

std::vector<KernelInstance> all_depthwise_instances() {
  std::vector<KernelInstance> result;
  for (const int vec : kWidths) result.push_back(wide_instance(vec));
  return result;
}

Lowered lower_depthwise(const ConvProblem& problem, const Tensor& wei, const KernelCaps& caps) {
  const int vec = instance_width(caps);
  const Split split = split_work(problem, vec, caps);
  Lowered lowered;
  lowered.constants.push_back({"depthwise:VEC=" + std::to_string(vec), [wei, C = problem.G, taps = problem.k(), vec] {
                                 return pack_weights(wei, C, taps, vec);
                               }});
  ArgList args;
  for (const Operand& operand :
       {problem.src.operand, Operand::constant(0), problem.bias, problem.residual.operand, problem.dst.operand}) {
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
  args.add(split.rows_per_item);
  args.add(split.vectors_per_item);
  args.add(static_cast<std::int64_t>(problem.activation));
  args.add(problem.alpha);
  args.add(problem.beta);
  KernelLaunch launch{wide_instance(vec), args.take()};
  launch.global = {static_cast<std::size_t>(divide_up(problem.out[1], split.rows_per_item)),
                   static_cast<std::size_t>(divide_up(divide_up(problem.G, vec), split.vectors_per_item)),
                   static_cast<std::size_t>(problem.N)};
  lowered.launches.push_back(std::move(launch));
  return lowered;
}

}  // namespace headrace
