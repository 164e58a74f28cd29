// SPDX-License-Identifier: Apache-2.0
// Winograd's convolutions on GPUs: transforms by winograd_tile.cl around products by conv_tile.cl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/conv_winograd.hpp"

namespace headrace {

// Kernels in the order of their launches.
std::vector<KernelInstance> winograd_tile_instances(const WinogradForm& form);

// What a direct convolution costs besides its products: the floats that it moves, in multiply-adds.
double direct_tile_moves(const ConvShape& shape);

// What Winograd's form costs, to be compared with the direct convolution's products and moves. `product_cost`: of its
// tile for as many pixels as there are tiles of the image, by conv_tile_candidates. Nothing where its sizes are too
// large for the kernels.
std::optional<double> winograd_tile_cost(const ConvShape& shape, const WinogradForm& form, double product_cost,
                                         const KernelCaps& caps);

// Adds the launches and their workspace; the weights are constant 0, packed for form.tile with a group per product.
void add_winograd_tile_launches(const ConvProblem& problem, const WinogradForm& form, const KernelCaps& caps,
                                Lowered& lowered);

}  // namespace headrace
