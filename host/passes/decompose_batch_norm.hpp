// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Writes BatchNormInference with constant parameters as Multiply and Add, which the scale passes then fold.
void decompose_batch_norm(Graph& graph);

}  // namespace headrace
