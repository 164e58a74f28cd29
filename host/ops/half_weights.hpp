// SPDX-License-Identifier: Apache-2.0
// Weights kept as f16 where that loses nothing: half the memory to read, the same bits.
#pragma once

#include "core/tensor.hpp"
#include "ops/conv_problem.hpp"

namespace headrace {

// Whether f16 holds every value of an f32 tensor exactly; none is infinite or NaN. True for what an IR stores as f16.
bool is_exact_in_half(const Tensor& values);

// The same tile with f16 weights, for products of few pixels, whose time goes into reading `wei`; nothing where the
// device does not offer it or the weights would lose something.
std::optional<ConvTile> with_half_weights(const ConvTile& tile, const Tensor& wei, const KernelCaps& caps);

// The tiles that with_half_weights may return.
std::vector<ConvTile> all_half_tiles();

}  // namespace headrace
