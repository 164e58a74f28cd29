// SPDX-License-Identifier: Apache-2.0
// Launches of winograd_wide.cl, and of winograd_tile.cl around conv_tile.cl: 3x3 convolutions of stride 1 with fewer
// multiplications.
#pragma once

#include <optional>
#include <vector>

#include "ops/conv_problem.hpp"
#include "ops/conv_shape.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// How winograd_wide.cl, or conv_tile.cl for winograd_tile.cl, tiles its work.
struct WinogradForm {
  ConvTile tile;  // tile_m tiles of the image, tile_n vectors of output channels
  int out = 4;    // outputs along a side of a tile of the image

  std::int64_t products() const { return static_cast<std::int64_t>(out + 2) * (out + 2); }
  // One, or those of the source's transform, the products and the sums' transform.
  std::vector<KernelInstance> instances() const;
};

// The forms that the device offers: none where the shape is not a 3x3 convolution of stride 1. Costs are in the unit of
// conv_tile_candidates times the products of a sum (on GPUs direct_tile_moves besides), and a little more than that: a
// small gain over the direct convolution is not worth the larger weights.
std::vector<Candidate<WinogradForm>> winograd_candidates(const ConvShape& shape, const KernelCaps& caps);

// Every form that a device may offer.
std::vector<WinogradForm> all_winograd_forms();

// The launches for a problem that fits; `wei` is [OC, IC, 3, 3].
Lowered lower_winograd(ConvProblem problem, const Tensor& wei, const WinogradForm& form, const KernelCaps& caps);

// G w G^T of every filter of [OC, IC, 3, 3]: [OC, IC, form.products()].
Tensor transform_winograd_weights(const Tensor& wei, const WinogradForm& form);

}  // namespace headrace
