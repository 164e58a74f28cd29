// SPDX-License-Identifier: Apache-2.0
// What can be said of a node's outputs where inference cannot: shapes that hang on values, trial numbers that do not
// fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/import/known_tensor.hpp"
#include "graph/graph.hpp"

namespace headrace::detail {

// The element type of an output by what IR says of the operator; nothing where the inputs' types do not tell.
std::optional<ElementType> guess_type(const Node& node, std::size_t output,
                                      std::span<const std::optional<ElementType>> inputs);

// The rank of an output, and its sizes where they follow from what is known; the others are `unknown`.
std::optional<Shape> guess_shape(const Node& node, std::size_t output, std::span<const KnownTensor::Trial> inputs,
                                 std::int64_t unknown);

}  // namespace headrace::detail
