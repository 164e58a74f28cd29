// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// Adds a number to every output channel of a Convolution, GroupConvolution or MatMul: to the constant of an Add that is
// the result's only reader where that runs along the channels, else by a new Add. `shifts` has one number per output
// channel for each layer. Names of network outputs stay. Shapes may be open.
void correct_bias(Graph& graph, const std::map<NodeId, std::vector<double>>& shifts);

}  // namespace headrace
