// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// Makes the named tensors the network's outputs, in this order, in place of those that it has; what is computed for the
// old ones alone goes. A name is that of a tensor ("x" finds "x:0" too), of a layer with one output, or LAYER:PORT.
// Throws kInvalidArgument for an unknown name (with names that look like it), one given twice, or a layer of several
// outputs without a port.
void cut_outputs(Graph& graph, const std::vector<std::string>& names);

// The tensor of that name, as above; `option` begins the message.
PortRef find_tensor(const Graph& graph, const std::string& name, std::string_view option);

}  // namespace headrace
