// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_int8.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/conv_args.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kBytesPerLane = 4;  // what one lane of the dot product takes of K

// Products of bytes that a work-item should have to do: see split_conv_work.
constexpr std::int64_t kMinItemFlops = 400'000;

// A tile and what it costs, as in conv_problem.cpp; measured in the same way.
struct TileChoice {
  Int8Tile tile;
  double pixel_cost;
  double load_cost;
};

// A multiplicand, the weights and the sums take TILE_M * TILE_N + TILE_N + 1 registers: 31 or 29 of AVX-512's 32.
// Sums of more than 9216 products are rare (a dense 3x3 kernel has 1024 channels then); the tile of one pixel takes
// them, whose panel is small.
constexpr TileChoice kTiles[] = {
    {{16, 14, 2, 9216, true}, 1.0, 40}, {{16, 6, 4, 9216, true}, 1.08, 10}, {{16, 1, 8, 32768, true}, 2.2, 10},
    {{16, 6, 2, 9216, false}, 1.0, 10}, {{16, 1, 8, 32768, false}, 2, 10},  // right numbers, not speed: few tiles
    {{8, 6, 2, 9216, false}, 1.0, 10},  {{8, 1, 8, 32768, false}, 2, 10},   {{4, 6, 2, 9216, false}, 1.0, 10},
    {{4, 1, 8, 32768, false}, 2, 10},
};

// One block of `width` channels from `first` on: [ceil(K / 4)][width][4]; `to` is zero.
void pack_block(const std::int8_t* wei, const WeightStrides& strides, const WeightSizes& sizes, std::int64_t first,
                std::int64_t width, std::int8_t* to) {
  const std::int64_t valid = std::min(width, sizes.OC - first);
  std::int64_t k = 0;
  for (std::int64_t tap = 0; tap < sizes.taps; ++tap) {
    for (std::int64_t ic = 0; ic < sizes.IC; ++ic, ++k) {
      const std::int8_t* from = wei + first * strides.oc + tap * strides.tap + ic * strides.ic;
      std::int8_t* quad = to + k / kBytesPerLane * width * kBytesPerLane + k % kBytesPerLane;
      for (std::int64_t lane = 0; lane < valid; ++lane) quad[lane * kBytesPerLane] = from[lane * strides.oc];
    }
  }
}

std::string tile_macros(const Int8Tile& tile) {
  return "VEC=" + std::to_string(tile.vec) + ",VNNI=" + std::to_string(tile.has_vnni ? 1 : 0);
}

ArgList make_args(const Int8Problem& problem) {
  const ConvProblem& conv = problem.conv;
  ArgList args;
  for (const Operand& operand :
       {conv.src.operand, conv.wei, problem.scale, problem.init, conv.bias, conv.residual.operand, conv.dst.operand}) {
    args.add(operand);
  }
  args.add_flags(conv.bias, conv.residual.operand);
  for (const ConvTensor* tensor : {&conv.src, &conv.dst, &conv.residual}) args.add(tensor->offset);
  for (const std::int64_t count : {conv.pixels(), conv.IC, conv.OC}) args.add(count);
  for (const Triple* values : {&conv.out, &conv.in, &conv.kernel, &conv.stride, &conv.dilation, &conv.pad}) {
    args.add((*values)[1]);
    args.add((*values)[2]);
  }
  args.add(problem.zero_point);
  for (const ConvTensor* tensor : {&conv.src, &conv.dst, &conv.residual}) {
    args.add(tensor->strides.n);
    args.add(tensor->strides.h);
    args.add(tensor->strides.w);
  }
  return args;
}

}  // namespace

KernelInstance Int8Tile::instance() const {
  return {"conv_int8_wide.cl",
          "KC=" + std::to_string(max_depth) + ",TILE_M=" + std::to_string(tile_m) +
              ",TILE_N=" + std::to_string(tile_n) + "," + tile_macros(*this),
          "conv_int8_wide_f32"};
}

std::string Int8Tile::packing_key(std::string_view prefix) const {
  return std::string(prefix) + ":VEC=" + std::to_string(vec) + ",TILE_N=" + std::to_string(tile_n);
}

std::vector<Int8Tile> all_int8_tiles() {
  std::vector<Int8Tile> tiles;
  for (const TileChoice& choice : kTiles) tiles.push_back(choice.tile);
  return tiles;
}

std::vector<Candidate<Int8Tile>> int8_tile_candidates(std::int64_t pixels, std::int64_t OC, std::int64_t depth,
                                                      const KernelCaps& caps) {
  std::vector<Candidate<Int8Tile>> candidates;
  for (const auto& [tile, pixel_cost, load_cost] : kTiles) {
    if (tile.vec > std::max(caps.vector_width, 4) || tile.has_vnni != caps.has_vnni) continue;
    if (depth > tile.max_depth || !caps.offers(tile.instance())) continue;
    const std::int64_t covered = divide_up(std::max<std::int64_t>(pixels, 1), tile.tile_m) * tile.tile_m;
    const double cost = static_cast<double>(covered) * pixel_cost + load_cost;
    candidates.push_back({tile, cost * static_cast<double>(tile.vectors(OC))});
  }
  return candidates;
}

Tensor pack_int8_weights(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes,
                         const Int8Tile& tile) {
  const std::int8_t* from = wei.values<std::int8_t>().data();
  const std::int64_t vectors = tile.vectors(sizes.OC);
  const std::int64_t quads = divide_up(sizes.taps * sizes.IC, kBytesPerLane);
  Tensor packed(ElementType::i8, {vectors * tile.vec * quads * kBytesPerLane});
  std::int8_t* to = packed.mutable_values<std::int8_t>().data();
  for (std::int64_t v = 0; v < vectors;) {
    std::int64_t block = tile.tile_n;
    while (block > vectors - v) block /= 2;
    pack_block(from, strides, sizes, v * tile.vec, block * tile.vec, to + v * tile.vec * quads * kBytesPerLane);
    v += block;
  }
  return packed;
}

Tensor make_int8_init(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes, const Int8Tile& tile,
                      std::int64_t zero_point) {
  const std::int8_t* from = wei.values<std::int8_t>().data();
  Tensor init(ElementType::i32, {tile.vectors(sizes.OC) * tile.vec});
  const auto values = init.mutable_values<std::int32_t>();
  for (std::int64_t oc = 0; oc < sizes.OC; ++oc) {
    std::int64_t sum = 0;
    for (std::int64_t tap = 0; tap < sizes.taps; ++tap) {
      const std::int8_t* at = from + oc * strides.oc + tap * strides.tap;
      for (std::int64_t ic = 0; ic < sizes.IC; ++ic) sum += at[ic * strides.ic];
    }
    values[static_cast<std::size_t>(oc)] = static_cast<std::int32_t>(-zero_point * sum);
  }
  return init;
}

Tensor pad_to_vectors(const Tensor& values, const Int8Tile& tile) {
  const Tensor source = values.aligned_copy();
  Tensor padded(ElementType::f32, {tile.vectors(source.count()) * tile.vec});
  std::copy_n(source.values<float>().data(), source.count(), padded.mutable_values<float>().data());
  return padded;
}

KernelLaunch make_int8_launch(const Int8Problem& problem, const Int8Tile& tile, const KernelCaps& caps) {
  const ConvProblem& conv = problem.conv;
  const std::int64_t block_bytes = conv.k() * tile.tile_n * tile.vec;
  const ConvSplit split = split_conv_work(conv, {tile.tile_m, tile.tile_n, tile.vec}, block_bytes, kMinItemFlops, caps);
  ArgList args = make_args(problem);
  args.add(split.tiles_per_item);
  args.add(split.vectors_per_item);
  args.add(static_cast<std::int64_t>(conv.activation));
  args.add(conv.alpha);
  args.add(conv.beta);
  KernelLaunch launch;
  launch.instance = tile.instance();
  launch.args = args.take();
  launch.global[0] = static_cast<std::size_t>(divide_up(divide_up(conv.pixels(), tile.tile_m), split.tiles_per_item));
  launch.global[1] = static_cast<std::size_t>(divide_up(tile.vectors(conv.OC), split.vectors_per_item));
  return launch;
}

}  // namespace headrace
