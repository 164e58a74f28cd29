// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Replaces every node that reads constants only by its value: decompression of weights (Convert), dequantisation
// (Convert, Subtract, Multiply), shape computations. A node that would make a much larger tensor out of small ones
// (Broadcast, Tile) stays. Throws what the operator's reference throws, with the layer's name.
void fold_constants(Graph& graph);

}  // namespace headrace
