// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Gives every network output a tensor name: where the file has none, the producer's layer name. Later passes move
// tensor names along but may rename the producer. Runs first.
void name_outputs(Graph& graph);

}  // namespace headrace
