// SPDX-License-Identifier: Apache-2.0
// The parts of tensors that iterations of Loop and TensorIterator read and write.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.hpp"
#include "graph/graph.hpp"

namespace headrace {

// How many parts a slice cuts a tensor of this shape into. Throws kBadModel where they do not fill it.
std::int64_t count_parts(const Node& node, const BodySlice& slice, const Shape& shape);

// The shape of one part.
Shape part_shape(const Node& node, const BodySlice& slice, const Shape& shape);

// The place of part `number` along the slice's axis.
std::int64_t part_start(const Node& node, const BodySlice& slice, const Shape& shape, std::int64_t number);

// A copy of part `number`.
Tensor part_of(const Node& node, const BodySlice& slice, const Tensor& tensor, std::int64_t number);

// All parts, of one type and shape, joined along the slice's axis; a negative stride turns their order round.
// Throws kBadModel where their shapes differ.
Tensor joined(const Node& node, const BodySlice& slice, const std::vector<Tensor>& parts);

}  // namespace headrace
