// SPDX-License-Identifier: Apache-2.0
// What the general convolution kernels (conv_wide.cl, conv_tile.cl) compute, and their launches: every convolution and
// every matrix product is lowered through a ConvProblem.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/conv_shape.hpp"
#include "ops/descriptor.hpp"
#include "ops/form_choice.hpp"

namespace headrace {

// Element strides of one tensor between batches, depths, rows, pixels, channels and groups.
struct ConvStrides {
  std::int64_t n = 0, d = 0, h = 0, w = 0, c = 1, g = 0;
};

// A tensor operand: where it is and how it is walked.
struct ConvTensor {
  Operand operand;
  std::int64_t offset = 0;  // elements
  ConvStrides strides;
};

// The arguments of conv_wide.cl under their names there; see its header for the formula. Matrix products C = A * B
// are N = D = H = 1, W = rows of A, IC = K, and the batch as groups.
struct ConvProblem {
  std::int64_t N = 1, G = 1, IC = 1, OC = 1;  // IC and OC per group
  Triple in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
  Triple stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0}, up{1, 1, 1};
  ConvTensor src, dst, residual;
  Operand wei, bias;  // wei packed by pack_weights; bias [G * bias_g]
  std::int64_t bias_g = 0;
  std::int64_t wei_offset = 0, wei_g = 0;  // elements: to the first group's weights, between groups
  Activation activation = Activation::kNone;
  float alpha = 0.0F, beta = 0.0F;

  std::int64_t pixels() const { return N * out[0] * out[1] * out[2]; }
  std::int64_t k() const { return kernel[0] * kernel[1] * kernel[2] * IC; }
};

// The same convolution with all its pixels in one row, where each reads one pixel and they follow each other in memory:
// tiles then end at the last pixel only, not at every row's end.
ConvProblem merge_rows(const ConvProblem& problem);

// How an instance of conv_wide.cl or conv_tile.cl tiles its work; it also fixes the order of packed weights: blocks of
// tile_n vectors of output channels.
struct ConvTile {
  int vec = 16;     // channels of a vector; conv_tile.cl: of a block
  int tile_m = 14;  // pixels
  int tile_n = 2;   // vectors of output channels
  bool is_wide = true;
  bool has_half_weights = false;  // wide only: the kernel widens them

  std::int64_t vectors(std::int64_t OC) const { return (OC + vec - 1) / vec; }
  // Elements of one group's packed weights.
  std::int64_t packed_elems(std::int64_t K, std::int64_t OC) const { return vectors(OC) * vec * K; }
  KernelInstance instance() const;
  // Names the form of weights packed for this tile.
  std::string packing_key(std::string_view prefix) const;
};

// What a register tile covers: pixels, and vectors of `vec` output channels.
struct TileSize {
  std::int64_t pixels = 1, vectors = 1, vec = 1;
};

struct ConvSplit {
  std::int64_t tiles_per_item = 1;
  std::int64_t vectors_per_item = 1;
};

// How pixels and channels are shared out among work-items: channels in as wide ranges as the cache takes, so that each
// gathered pixel is used for many channels, and narrower ones where pixels alone do not keep every compute unit busy.
// block_bytes: the weights of a tile's channels that are read at a time. A work-item has min_item_flops or more to do.
ConvSplit split_conv_work(const ConvProblem& problem, const TileSize& tile, std::int64_t block_bytes,
                          std::int64_t min_item_flops, const KernelCaps& caps);

// Takes over bias and activation; the residual's tensor is the caller's to place.
void set_epilogue(ConvProblem& problem, const Epilogue& epilogue);

// The tiles that the device offers for sums over so many pixels and output channels. Costs are multiply-adds for
// each product of a sum: of a vector where the device is wide, else of a float.
std::vector<Candidate<ConvTile>> conv_tile_candidates(std::int64_t pixels, std::int64_t OC, const KernelCaps& caps);

// Every tile that a device may offer, for all families and vector widths.
std::vector<ConvTile> all_conv_tiles();

// Where weight (g, oc, tap, ic) lies in the tensor that is packed.
struct WeightStrides {
  std::int64_t g = 0, oc = 0, tap = 0, ic = 0;
};

struct WeightSizes {
  std::int64_t G = 1, OC = 1, taps = 1, IC = 1;
};

// Whether the kernels' ints hold every place that a tap of the shape reads or skips as padding (strides of src as its
// desc has them), and the elements of the packed weights.
Support supports_conv_index(const ConvShape& shape, const TensorDesc& src, std::int64_t packed_elems);

// Packs f32 weights into the order that the kernels read: [G * packed_elems] f32, or f16 where the tile says so.
Tensor pack_conv_weights(const Tensor& wei, const WeightStrides& strides, const WeightSizes& sizes,
                         const ConvTile& tile);

// The launch for a problem whose weights are packed for `tile`.
KernelLaunch make_conv_launch(const ConvProblem& problem, const ConvTile& tile, const KernelCaps& caps);

}  // namespace headrace
