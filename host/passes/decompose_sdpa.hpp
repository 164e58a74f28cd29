// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Writes ScaledDotProductAttention as MatMul, scale, mask, SoftMax and MatMul, so that it runs on the MatMul kernels.
void decompose_sdpa(Graph& graph);

}  // namespace headrace
