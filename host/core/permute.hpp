// SPDX-License-Identifier: Apache-2.0
// Copies a tensor with its axes in another order.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor.hpp"

namespace headrace {

// Axis i of the result is axis order[i] of x. `order` is a permutation of x's axes; throws kInvalidArgument else.
Tensor permuted(const Tensor& x, std::span<const std::int64_t> order);

}  // namespace headrace
