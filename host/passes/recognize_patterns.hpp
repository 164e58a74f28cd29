// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Finds activations that exporters write as several nodes: x * Sigmoid(x) is Swish, x * Clamp(x + 3, 0, 6) / 6 is
// HSwish, Clamp(x + 3, 0, 6) / 6 is HSigmoid, x * (1 + Erf(x / sqrt(2))) / 2 is Gelu.
void recognize_patterns(Graph& graph);

}  // namespace headrace
