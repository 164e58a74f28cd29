// SPDX-License-Identifier: Apache-2.0
// A partition as a picture.
#pragma once

#include <string>

#include "partition/partition.hpp"

namespace headrace {

// Returns Graphviz text: one box per layer with name, type, device and subgraph, coloured by device; one ellipse per
// network input and output. Constants are left out. Stable between runs.
std::string write_dot(const Graph& graph, const Partition& partition);

}  // namespace headrace
