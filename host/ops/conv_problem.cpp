// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_problem.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/error.hpp"
#include "ops/conv_args.hpp"
#include "ops/conv_local_tile.hpp"

namespace headrace {
namespace {

// Longest part of K that conv_wide.cl sums at once (its macro KC) and the share of a second-level cache that the
// weights of a work-item may take: half of the 1 MiB that AVX-512 server cores have.
constexpr std::int64_t kPartElems = 512;
constexpr std::int64_t kWeightBytesInCache = 512 * 1024;
// PoCL deals work-groups to its threads in shrinking shares; 8 each keep both ends busy until the last.
constexpr std::int64_t kItemsPerUnit = 8;
// Below this a work-item costs more to start than it computes.
constexpr std::int64_t kMinItemFlops = 100'000;

// A tile and what it costs in multiply-adds of a vector: a pixel, next to the widest tile of the same vectors (a lower
// tile loads more weights for each sum, and one of a single pixel as many as it multiplies), and a vector of weights
// that comes from memory, once per run (a wider block reads longer pieces of it). AVX-512: fitted to what `headrace
// tune --all` measured on PoCL 3.1, 2 cores, 2 December 2026 (HEADRACE_LOG=debug,tuning prints every form's time).
struct TileChoice {
  ConvTile tile;
  double pixel_cost;
  double load_cost;
};

constexpr TileChoice kTiles[] = {
    {{16, 14, 2}, 1.0, 25}, {{16, 7, 4}, 1.045, 10}, {{16, 1, 8}, 2.2, 10},  // AVX-512: 32 registers
    {{8, 6, 2}, 1.0, 25},   {{8, 1, 8}, 2.0, 25},                            // AVX2: 16 registers
    {{4, 6, 2}, 1.0, 25},   {{4, 1, 8}, 2.0, 25},                            // SSE, NEON
};

void add_destination_strides(ArgList& args, const ConvStrides& strides) {
  for (const std::int64_t stride : {strides.n, strides.d, strides.h, strides.w, strides.g}) args.add(stride);
}

void assign(float& to, float value) { to = value; }
void assign(std::uint16_t& to, float value) { to = float_to_half(value); }

// Copies one block of `width` channels from `first` on: [K][width].
template <typename T>
T* pack_block(const float* wei, const WeightStrides& strides, const WeightSizes& sizes, std::int64_t first,
              std::int64_t width, T* to) {
  const std::int64_t valid = std::min(width, sizes.OC - first);
  for (std::int64_t tap = 0; tap < sizes.taps; ++tap) {
    for (std::int64_t ic = 0; ic < sizes.IC; ++ic, to += width) {
      const float* from = wei + first * strides.oc + tap * strides.tap + ic * strides.ic;
      for (std::int64_t lane = 0; lane < valid; ++lane) assign(to[lane], from[lane * strides.oc]);
    }
  }
  return to;
}

template <typename T>
void pack_groups(const float* from, const WeightStrides& strides, const WeightSizes& sizes, const ConvTile& tile,
                 T* to) {
  const std::int64_t vectors = tile.vectors(sizes.OC);
  for (std::int64_t g = 0; g < sizes.G; ++g) {
    for (std::int64_t v = 0; v < vectors;) {
      std::int64_t block = tile.tile_n;
      while (block > vectors - v) block /= 2;
      to = pack_block(from + g * strides.g, strides, sizes, v * tile.vec, block * tile.vec, to);
      v += block;
    }
  }
}

}  // namespace

KernelInstance ConvTile::instance() const {
  if (!is_wide) {
    const LocalForm form = local_form_of(*this);
    return {"conv_tile.cl", "ITEM=" + std::to_string(form.item) + ",SIDE=" + std::to_string(form.side),
            "conv_tile_f32"};
  }
  return {"conv_wide.cl",
          (has_half_weights ? "HALF_WEI=1," : "") + ("TILE_M=" + std::to_string(tile_m)) +
              ",TILE_N=" + std::to_string(tile_n) + ",VEC=" + std::to_string(vec),
          "conv_wide_f32"};
}

ConvSplit split_conv_work(const ConvProblem& problem, const TileSize& tile, std::int64_t block_bytes,
                          std::int64_t min_item_flops, const KernelCaps& caps) {
  const std::int64_t tiles = divide_up(problem.pixels(), tile.pixels);
  const std::int64_t blocks = divide_up(divide_up(problem.OC, tile.vec), tile.vectors);
  const std::int64_t flops = 2 * problem.pixels() * problem.OC * problem.k();
  const std::int64_t wanted =
      std::clamp(flops * problem.G / min_item_flops, std::int64_t{1}, kItemsPerUnit * caps.compute_units);
  std::int64_t blocks_per_item =
      std::clamp(kWeightBytesInCache / std::max<std::int64_t>(block_bytes, 1), std::int64_t{1}, blocks);
  while (blocks_per_item > 1 && divide_up(blocks, blocks_per_item) * tiles * problem.G < wanted) {
    blocks_per_item = divide_up(blocks_per_item, 2);
  }
  const std::int64_t ranges = divide_up(blocks, blocks_per_item);
  const std::int64_t tile_ranges = std::clamp(divide_up(wanted, ranges * problem.G), std::int64_t{1}, tiles);
  return {divide_up(tiles, tile_ranges), divide_up(blocks, ranges) * tile.vectors};
}

void set_epilogue(ConvProblem& problem, const Epilogue& epilogue) {
  if (epilogue.bias_input >= 0) problem.bias = Operand::input(static_cast<std::size_t>(epilogue.bias_input));
  problem.activation = epilogue.activation;
  problem.alpha = epilogue.alpha;
  problem.beta = epilogue.beta;
}

std::string ConvTile::packing_key(std::string_view prefix) const {
  return std::string(prefix) + ":VEC=" + std::to_string(vec) + ",TILE_N=" + std::to_string(tile_n) +
         (has_half_weights ? ",f16" : "");
}

std::vector<ConvTile> all_conv_tiles() {
  std::vector<ConvTile> tiles;
  for (const TileChoice& choice : kTiles) tiles.push_back(choice.tile);
  for (const LocalForm& form : all_local_forms()) tiles.push_back(form.tile());
  return tiles;
}

namespace {

// Whether the rows, depths and batches of a tensor follow each other at the distance of its pixels.
bool is_one_row(const ConvStrides& strides, std::int64_t N, const Triple& size) {
  std::int64_t step = strides.w * size[2];
  for (const auto& [stride, count] : {std::pair{strides.h, size[1]}, {strides.d, size[0]}, {strides.n, N}}) {
    if (count != 1 && stride != step) return false;
    step *= count;
  }
  return true;
}

}  // namespace

ConvProblem merge_rows(const ConvProblem& problem) {
  constexpr Triple kOnes{1, 1, 1};
  const bool is_pointwise = problem.kernel == kOnes && problem.stride == kOnes && problem.up == kOnes &&
                            problem.pad == Triple{0, 0, 0} && problem.in == problem.out;
  const auto is_row = [&](const ConvTensor& tensor) { return is_one_row(tensor.strides, problem.N, problem.out); };
  if (!is_pointwise || !is_row(problem.src) || !is_row(problem.dst)) return problem;
  if (is_set(problem.residual.operand) && !is_row(problem.residual)) return problem;
  ConvProblem merged = problem;
  merged.N = 1;
  merged.in = merged.out = {1, 1, problem.pixels()};
  return merged;
}

std::vector<Candidate<ConvTile>> conv_tile_candidates(std::int64_t pixels, std::int64_t OC, const KernelCaps& caps) {
  if (!caps.is_wide()) return local_tile_candidates(pixels, OC, caps);
  std::vector<Candidate<ConvTile>> candidates;
  for (const auto& [tile, pixel_cost, load_cost] : kTiles) {
    if (tile.vec > std::max(caps.vector_width, 4) || !caps.offers(tile.instance())) continue;
    const std::int64_t covered = divide_up(std::max<std::int64_t>(pixels, 1), tile.tile_m) * tile.tile_m;
    const double cost = static_cast<double>(covered) * pixel_cost + load_cost;
    candidates.push_back({tile, cost * static_cast<double>(tile.vectors(OC))});
  }
  return candidates;
}

Support supports_conv_index(const ConvShape& shape, const TensorDesc& src, std::int64_t packed_elems) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (packed_elems > kMost) return Support::no("the packed weights have more than 2^31 elements");
  for (std::size_t i = 0; i < shape.spatial_rank; ++i) {
    const std::size_t axis = 3 - shape.spatial_rank + i;
    const std::int64_t step = shape.is_transposed ? 1 : shape.stride[axis];
    // Attributes are below 2^30: no product of two overflows here.
    const std::int64_t reach =
        shape.out[axis] * step + std::abs(shape.pad_begin[axis]) + (shape.kernel[axis] - 1) * shape.dilation[axis];
    if (reach > kMost / std::max<std::int64_t>(src.strides[2 + i], 1)) {
      return Support::no("stride, dilation or padding reaches more than 2^31 elements far");
    }
  }
  return Support::yes();
}

Tensor pack_conv_weights(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes,
                         const ConvTile& tile) {
  const Tensor source = wei.aligned_copy();
  const float* from = source.values<float>().data();
  Tensor packed(tile.has_half_weights ? ElementType::f16 : ElementType::f32,
                {sizes.G * tile.packed_elems(sizes.taps * sizes.IC, sizes.OC)});
  if (tile.has_half_weights) {
    pack_groups(from, strides, sizes, tile, packed.mutable_values<std::uint16_t>().data());
  } else {
    pack_groups(from, strides, sizes, tile, packed.mutable_values<float>().data());
  }
  return packed;
}

namespace {

// The arguments that both kernels have.
ArgList common_args(const ConvProblem& problem) {
  ArgList args;
  for (const Operand& operand :
       {problem.src.operand, problem.wei, problem.bias, problem.residual.operand, problem.dst.operand}) {
    args.add(operand);
  }
  args.add_flags(problem.bias, problem.residual.operand);
  for (const ConvTensor* tensor : {&problem.src, &problem.dst, &problem.residual}) args.add(tensor->offset);
  args.add(problem.wei_offset);
  for (const std::int64_t count : {problem.pixels(), problem.IC, problem.OC}) args.add(count);
  for (const Triple* values :
       {&problem.out, &problem.in, &problem.kernel, &problem.stride, &problem.dilation, &problem.pad, &problem.up}) {
    args.add(*values);
  }
  const ConvStrides& src = problem.src.strides;
  for (const std::int64_t stride : {src.n, src.d, src.h, src.w, src.c, src.g}) args.add(stride);
  add_destination_strides(args, problem.dst.strides);
  add_destination_strides(args, problem.residual.strides);
  args.add(problem.wei_g);
  args.add(problem.bias_g);
  return args;
}

void add_activation(ArgList& args, const ConvProblem& problem) {
  args.add(static_cast<std::int64_t>(problem.activation));
  args.add(problem.alpha);
  args.add(problem.beta);
}

std::array<std::size_t, 3> global_size(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z)};
}

}  // namespace

KernelLaunch make_conv_launch(const ConvProblem& problem, const ConvTile& tile, const KernelCaps& caps) {
  const std::int64_t tiles = divide_up(problem.pixels(), tile.tile_m);
  const std::int64_t vectors = tile.vectors(problem.OC);
  ArgList args = common_args(problem);
  KernelLaunch launch;
  launch.instance = tile.instance();
  if (tile.is_wide) {
    const std::int64_t elem_bytes = tile.has_half_weights ? 2 : 4;
    const std::int64_t block_bytes = std::min(problem.k(), kPartElems) * tile.tile_n * tile.vec * elem_bytes;
    const ConvSplit split =
        split_conv_work(problem, {tile.tile_m, tile.tile_n, tile.vec}, block_bytes, kMinItemFlops, caps);
    args.add(split.tiles_per_item);
    args.add(split.vectors_per_item);
    launch.global =
        global_size(divide_up(tiles, split.tiles_per_item), divide_up(vectors, split.vectors_per_item), problem.G);
  } else {
    const int side = local_form_of(tile).side;
    launch.global = global_size(vectors * side, tiles * side, problem.G);
    launch.local = {static_cast<std::size_t>(side), static_cast<std::size_t>(side), 1};
  }
  add_activation(args, problem);
  launch.args = args.take();
  return launch;
}

}  // namespace headrace
