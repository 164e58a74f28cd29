// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Fuses Add of a per-channel constant behind a convolution, or of [N] behind MatMul, as the node's bias.
void fuse_bias(Graph& graph);

}  // namespace headrace
