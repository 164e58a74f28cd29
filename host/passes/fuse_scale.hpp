// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Brings chains of Add, Subtract, Multiply and Divide by constants into the shortest form, x * c + d: Subtract and
// Divide become Add and Multiply, neighbours of a kind merge, Multiply moves before Add behind an operator that takes
// both (a convolution). Mean and scale of pictures end as one Multiply and one Add at most.
void fuse_scale(Graph& graph);

}  // namespace headrace
