// SPDX-License-Identifier: Apache-2.0
// Winograd's convolutions on GPUs: transforms by winograd_tile.cl around products by conv_tile.cl.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/conv_winograd.hpp"

namespace headrace {

// Kernels in the order of their launches.
std::vector<KernelInstance> winograd_tile_instances(const WinogradForm& form);

// In multiply-adds, to be compared with each other: of the direct convolution and of Winograd's form. Infinite where
// its sizes are too large for the kernels.
double direct_tile_cost(const ConvShape& shape, const ConvTile& tile);
double winograd_tile_cost(const ConvShape& shape, const WinogradForm& form, const KernelCaps& caps);

// Adds the launches and their workspace; the weights are constant 0, packed for form.tile with a group per product.
void add_winograd_tile_launches(const ConvProblem& problem, const WinogradForm& form, const KernelCaps& caps,
                                Lowered& lowered);

}  // namespace headrace
