// SPDX-License-Identifier: Apache-2.0
// Network inputs whose values, not only shapes, decide the shapes of other tensors: a Reshape's target, a Slice's ends.
#pragma once

#include <vector>

#include "core/tensor.hpp"
#include "graph/graph.hpp"

namespace headrace {

// Positions among parameters() of the inputs that the value of `source` is computed from, ascending. Empty where it
// depends on an input of more than 4096 elements: that is data, and following it through the graph would be running
// the network. `graph` has been through infer_shapes as far as `source`.
std::vector<std::size_t> inputs_behind(const Graph& graph, PortRef source);

// Makes the readers of an input, Results excepted, read a constant instead. The Parameter stays.
void bind_input(Graph& graph, std::size_t position, const Tensor& value);

}  // namespace headrace
