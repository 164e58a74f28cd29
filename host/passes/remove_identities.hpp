// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Removes nodes that only pass a tensor on (Convert to the same type, Transpose by the identity, Reshape to the same
// shape, Concat of one tensor, Pad by nothing, Broadcast and Tile to the same shape), merges chains of Reshape, Squeeze
// and Unsqueeze and chains of Transpose. A node stays where a network output would lose its name.
void remove_identities(Graph& graph);

}  // namespace headrace
