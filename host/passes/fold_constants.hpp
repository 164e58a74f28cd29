// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Replaces every node that reads constants only by its value: decompression of weights (Convert), dequantisation
// (Convert, Subtract, Multiply), shape computations. A node that would make a much larger tensor out of small ones
// (Broadcast, Tile) stays. Throws what the operator's reference throws, with the layer's name.
void fold_constants(Graph& graph);

// The same for the nodes that `is_wanted` names alone.
void fold_constants_where(Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_wanted);

// Whether fold_constants would replace the node; else the reason why a node that reads constants alone stays.
struct Foldable {
  bool is_foldable = false;
  std::string reason;  // empty for a node that reads other tensors too
};
Foldable is_constant_foldable(const Graph& graph, const Node& node);

}  // namespace headrace
