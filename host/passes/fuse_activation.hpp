// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Fuses an activation into the node before it, where that operator's kernel computes it (OpDescriptor::fuses) and
// nothing else reads the tensor between.
void fuse_activation(Graph& graph);

}  // namespace headrace
