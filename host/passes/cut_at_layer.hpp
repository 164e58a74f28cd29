// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// A network in two halves with one layer between them, whose output shapes hang on values that only a run gives
// (NonZero, NonMaxSuppression, a Reshape to a computed shape). Run the head, then the layer, then the tail, which is
// prepared for the shapes that came out.
struct LayerCut {
  // Everything that does not depend on the layer. It has the network's Parameters, all of them.
  Graph head;
  Node layer;
  std::vector<std::size_t> layer_inputs;  // the head's Results that it reads
  // What depends on the layer. Its Parameters, of unknown rank and of the types that the producers had, stand for
  // tensors that the head or the layer makes; constants, and what is computed from constants alone, are in both halves.
  Graph tail;

  struct TailInput {
    bool is_of_layer = false;
    std::size_t output = 0;  // of the layer, or the head's Result
  };
  std::vector<TailInput> tail_inputs;  // one per Parameter of the tail

  struct Output {
    bool is_in_tail = false;
    std::size_t result = 0;
  };
  std::vector<Output> outputs;  // one per Result of the network
};

// Cuts the graph, whose shapes need not be known. Names stay what they are.
LayerCut cut_at_layer(const Graph& graph, NodeId layer);

}  // namespace headrace
