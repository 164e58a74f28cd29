// SPDX-License-Identifier: Apache-2.0
// Which tensors can lie inside others: what the planner asks to save copies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

// Returns how output `output` can be read in input 0's memory without a copy: Reshape (where strides allow), Squeeze,
// Unsqueeze, Transpose, Split, VariadicSplit, Slice, StridedSlice and cropping Pads. The offset includes that of
// input 0. Nothing where elements must move, repeat or run backwards, or where a constant input is not known.
std::optional<View> view_of(const Node& node, std::span<const LowerInput> inputs, std::size_t output,
                            const Shape& output_shape);

// Returns, for each input of a Concat, where it lies inside the output's memory. Throws kBadModel on a bad axis.
std::vector<View> concat_views(const Node& node, std::span<const Shape> inputs, const TensorDesc& output);

// Returns the strides under which memory of `from` reads as a tensor of `shape` with as many elements, or nothing
// where no strides do (numpy's rule for a reshape without a copy).
std::optional<std::vector<std::int64_t>> reshape_strides(const TensorDesc& from, const Shape& shape);

}  // namespace headrace
