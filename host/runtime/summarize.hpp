// SPDX-License-Identifier: Apache-2.0
// The summary of a graph.
#pragma once

#include <span>

#include "graph/graph.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

// Of the nodes in this order, which holds every Parameter, Result and layer of the graph, producers before users.
ModelSummary summarize_graph(const Graph& graph, std::span<const NodeId> order);

}  // namespace headrace
