// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Fuses Add of two tensors of equal shape into the convolution or MatMul that gives one of them; where both could
// take it, the later one in topological order does. The sum is the only reader of the fused tensor, so the other tensor
// cannot depend on it and no cycle can form.
void fuse_residual(Graph& graph);

}  // namespace headrace
