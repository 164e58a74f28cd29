// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Removes nodes that no network output depends on. Outputs that nothing reads and an operator can leave out (the
// indices of MaxPool) are dropped too.
void eliminate_dead(Graph& graph);

}  // namespace headrace
