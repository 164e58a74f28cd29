// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_winograd.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "ops/conv_args.hpp"
#include "ops/conv_winograd_split.hpp"
#include "ops/conv_winograd_tile.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kTaps = 9;

constexpr WinogradForm kForms[] = {
    {{16, 14, 2}, 4}, {{16, 8, 2}, 4}, {{16, 14, 2}, 2},  // AVX-512
    {{8, 6, 2}, 4},   {{8, 6, 2}, 2},                     // AVX2
    {{4, 6, 2}, 4},   {{4, 6, 2}, 2},                     // SSE, NEON
};

// Costs in vector multiply-adds of a register tile that is full; measured as those in conv_problem.cpp.
constexpr double kLoadWeight = 12;      // a vector of weights from memory, once per run
constexpr double kTransformPoint = 15;  // one of a tile's products of one vector of channels, source or sums
// Less than this is not worth larger weights.
constexpr double kLeastGain = 0.95;
constexpr double kLeastTileGain = 0.85;  // on GPUs, where nothing was measured
double tile_cost(const ConvTile& tile) { return tile.tile_m >= 14 || tile.vec < 16 ? 1.0 : 1.06; }

std::int64_t count_tiles(const ConvShape& shape, int out) {
  return shape.N * divide_up(shape.out[1], out) * divide_up(shape.out[2], out);
}

bool fits(const ConvShape& shape) {
  return !shape.is_transposed && shape.G == 1 && shape.kernel == Triple{1, 3, 3} && shape.stride == Triple{1, 1, 1} &&
         shape.dilation[1] == 1 && shape.dilation[2] == 1 && shape.in[0] == 1 && shape.out[0] == 1;
}

double winograd_cost(const ConvShape& shape, const WinogradForm& form) {
  const std::int64_t tiles = count_tiles(shape, form.out);
  const double rows = static_cast<double>(divide_up(tiles, form.tile.tile_m) * form.tile.tile_m);
  const std::int64_t vectors = form.tile.vectors(shape.OC);
  const double sums = rows * tile_cost(form.tile) + kLoadWeight;
  const auto transforms = static_cast<double>(tiles * (vectors + form.tile.vectors(shape.IC)));
  return static_cast<double>(form.products()) *
         (sums * static_cast<double>(shape.IC * vectors) + kTransformPoint * transforms);
}

// Whether an int of the kernel counts the packed weights, and the smallest scratch memory that keeps every compute unit
// busy.
bool is_indexable(const ConvShape& shape, const WinogradForm& form, const KernelCaps& caps) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t width = shape.IC + (1 + form.tile.tile_n) * form.tile.vec;
  return form.tile.packed_elems(shape.IC * form.products(), shape.OC) <= kMost &&
         form.products() * form.tile.tile_m * width <= kMost / caps.compute_units;
}

bool is_offered(const WinogradForm& form, const KernelCaps& caps) {
  const auto instances = form.instances();
  return std::all_of(instances.begin(), instances.end(),
                     [&](const KernelInstance& instance) { return caps.offers(instance); });
}

std::vector<Candidate<WinogradForm>> wide_candidates(const ConvShape& shape, const KernelCaps& caps) {
  std::vector<Candidate<WinogradForm>> candidates;
  for (const WinogradForm& form : kForms) {
    if (form.tile.vec > std::max(caps.vector_width, 4)) continue;
    candidates.push_back({form, winograd_cost(shape, form) / kLeastGain});
  }
  return candidates;
}

// Each tile that the products may have, on GPUs.
std::vector<Candidate<WinogradForm>> tile_candidates(const ConvShape& shape, const KernelCaps& caps) {
  std::vector<Candidate<WinogradForm>> candidates;
  for (const int out : {4, 2}) {
    for (const auto& [tile, product_cost] : conv_tile_candidates(count_tiles(shape, out), shape.OC, caps)) {
      const WinogradForm form{tile, out};
      const auto cost = winograd_tile_cost(shape, form, product_cost, caps);
      if (cost) candidates.push_back({form, *cost / kLeastTileGain});
    }
  }
  return candidates;
}

// G for the points 0, 1, -1, 2, -2 and infinity, and for 0, 1, -1 and infinity.
constexpr double kG4[6][3] = {{1.0 / 4, 0, 0},
                              {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                              {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                              {1.0 / 24, 1.0 / 12, 1.0 / 6},
                              {1.0 / 24, -1.0 / 12, 1.0 / 6},
                              {0, 0, 1}};
constexpr double kG2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

// to[points][points] = G filter[3][3] G^T
void transform_filter(const float* filter, const double (*g)[3], std::int64_t points, float* to) {
  for (std::int64_t i = 0; i < points; ++i) {
    std::array<double, 3> row{};
    for (std::size_t w = 0; w < 3; ++w) {
      for (std::size_t h = 0; h < 3; ++h) row[w] += g[i][h] * static_cast<double>(filter[h * 3 + w]);
    }
    for (std::int64_t j = 0; j < points; ++j) {
      to[i * points + j] = static_cast<float>(row[0] * g[j][0] + row[1] * g[j][1] + row[2] * g[j][2]);
    }
  }
}

}  // namespace

std::vector<KernelInstance> WinogradForm::instances() const {
  if (!tile.is_wide) return winograd_tile_instances(*this);
  return {{"winograd_wide.cl",
           "OUT=" + std::to_string(out) + ",TILE_M=" + std::to_string(tile.tile_m) +
               ",TILE_N=" + std::to_string(tile.tile_n) + ",VEC=" + std::to_string(tile.vec),
           "winograd_wide_f32"}};
}

std::vector<Candidate<WinogradForm>> winograd_candidates(const ConvShape& shape, const KernelCaps& caps) {
  if (caps.exact_nan || !fits(shape)) return {};
  if (count_tiles(shape, 2) * shape.OC == 0) return {};  // nothing to compute, by any form
  std::vector<Candidate<WinogradForm>> candidates =
      caps.is_wide() ? wide_candidates(shape, caps) : tile_candidates(shape, caps);
  std::erase_if(candidates, [&](const auto& candidate) {
    return !is_offered(candidate.form, caps) || !is_indexable(shape, candidate.form, caps);
  });
  return candidates;
}

std::vector<WinogradForm> all_winograd_forms() {
  std::vector<WinogradForm> result(std::begin(kForms), std::end(kForms));
  for (const ConvTile& tile : all_conv_tiles()) {
    if (!tile.is_wide) result.insert(result.end(), {{tile, 4}, {tile, 2}});
  }
  return result;
}

Tensor transform_winograd_weights(const Tensor& wei, const WinogradForm& form) {
  const Tensor source = wei.aligned_copy();
  const std::int64_t filters = wei.shape()[0] * wei.shape()[1];
  const std::int64_t points = form.out + 2;
  Tensor transformed(ElementType::f32, {wei.shape()[0], wei.shape()[1], form.products()});
  const float* from = source.values<float>().data();
  float* to = transformed.mutable_values<float>().data();
  for (std::int64_t i = 0; i < filters; ++i) {
    transform_filter(from + i * kTaps, form.out == 4 ? kG4 : kG2, points, to + i * form.products());
  }
  return transformed;
}

namespace {

void add_wide_launch(const ConvProblem& problem, const WinogradForm& form, const KernelCaps& caps, Lowered& lowered) {
  const std::int64_t tiles_h = divide_up(problem.out[1], form.out);
  const std::int64_t tiles_w = divide_up(problem.out[2], form.out);
  const std::int64_t tiles = problem.N * tiles_h * tiles_w;
  const WinogradSplit split = split_winograd(problem, form, tiles, caps);
  KernelLaunch launch;
  launch.instance = form.instances()[0];
  launch.global = {static_cast<std::size_t>(split.tile_ranges), static_cast<std::size_t>(split.channel_ranges), 1};
  lowered.scratch_bytes.push_back(static_cast<std::size_t>(split.items() * split.scratch_item) * sizeof(float));
  ArgList args;
  for (const Operand& operand : {problem.src.operand, problem.wei, problem.bias, problem.residual.operand,
                                 problem.dst.operand, Operand::scratch(0)}) {
    args.add(operand);
  }
  args.add_flags(problem.bias, problem.residual.operand);
  for (const ConvTensor* tensor : {&problem.src, &problem.dst, &problem.residual}) args.add(tensor->offset);
  for (const std::int64_t value : {problem.IC, problem.OC, problem.out[1], problem.out[2], problem.in[1], problem.in[2],
                                   problem.pad[1], problem.pad[2]}) {
    args.add(value);
  }
  for (const ConvTensor* tensor : {&problem.src, &problem.dst, &problem.residual}) {
    args.add(tensor->strides.n);
    args.add(tensor->strides.h);
    args.add(tensor->strides.w);
  }
  for (const std::int64_t value : {tiles_h, tiles_w, tiles, split.tiles_per_item, split.block, split.vectors_per_item,
                                   split.chunk, split.scratch_item, static_cast<std::int64_t>(problem.activation)}) {
    args.add(value);
  }
  args.add(problem.alpha);
  args.add(problem.beta);
  launch.args = args.take();
  lowered.launches.push_back(std::move(launch));
}

}  // namespace

Lowered lower_winograd(ConvProblem problem, const Tensor& wei, const WinogradForm& form, const KernelCaps& caps) {
  Lowered lowered;
  problem.wei = Operand::constant(0);
  // A product of the wide form is a tap: its kernel finds them in the packed weights; those of the other are groups.
  const std::int64_t products = form.products();
  WeightSizes sizes{1, problem.OC, products, problem.IC};
  WeightStrides strides{0, problem.IC * products, 1, products};
  if (!form.tile.is_wide) {
    std::swap(sizes.G, sizes.taps);
    std::swap(strides.g, strides.tap);
  }
  lowered.constants.push_back(
      {form.tile.packing_key("winograd") + ",OUT=" + std::to_string(form.out), [wei, form, sizes, strides] {
         return pack_conv_weights(transform_winograd_weights(wei, form), strides, sizes, form.tile);
       }});
  if (!form.tile.is_wide) {
    add_winograd_tile_launches(problem, form, caps, lowered);
  } else {
    add_wide_launch(problem, form, caps, lowered);
  }
  return lowered;
}

}  // namespace headrace
