// SPDX-License-Identifier: Apache-2.0
// What conv_int8_wide.cl computes, and its launch: convolutions and matrix products of bytes are lowered through it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/conv_problem.hpp"

namespace headrace {

// Longest sum of products of a u8 and an i8 that fits i32 together with a correction of the same size.
constexpr std::int64_t kMaxInt8Depth = 32768;

// How an instance of conv_int8_wide.cl tiles its work; it also fixes the order of packed weights.
struct Int8Tile {
  int vec = 16;
  int tile_m = 14;       // pixels
  int tile_n = 2;        // vectors of output channels
  int max_depth = 9216;  // longest K
  bool has_vnni = false;

  std::int64_t vectors(std::int64_t OC) const { return (OC + vec - 1) / vec; }
  KernelInstance instance() const;
  std::string packing_key(std::string_view prefix) const;
};

// The tiles that the device offers for sums of `depth` products, for so many pixels and output channels. Costs are
// products of a vector for each four of a sum.
std::vector<Candidate<Int8Tile>> int8_tile_candidates(std::int64_t pixels, std::int64_t OC, std::int64_t depth,
                                                      const KernelCaps& caps);

// Every tile that a device may offer.
std::vector<Int8Tile> all_int8_tiles();

// Packs i8 weights of one group into the order that the kernel reads: [bytes].
Tensor pack_int8_weights(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes,
                         const Int8Tile& tile);

// -zero_point * (sum of the channel's weights): i32 [vectors * vec].
Tensor make_int8_init(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes, const Int8Tile& tile,
                      std::int64_t zero_point);

// Copies f32 [OC] and adds zeros up to whole vectors.
Tensor pad_to_vectors(const Tensor& values, const Int8Tile& tile);

// A ConvProblem of one group and two dimensions, whose src is u8, and what the sums are made of.
struct Int8Problem {
  ConvProblem conv;
  Operand scale, init;
  std::int64_t zero_point = 0;
};

KernelLaunch make_int8_launch(const Int8Problem& problem, const Int8Tile& tile, const KernelCaps& caps);

}  // namespace headrace
