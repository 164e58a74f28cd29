// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Moves Transposes from the inputs of a node to its output where the node computes the same in another order of axes:
// functions of elements (constants are permuted), Concat, Split, Pad, Slice, reductions, SoftMax, normalizations.
// Transposes that meet merge or cancel, so that a network of pictures in NHWC whose convolutions were each put between
// two of them keeps the first one and those that something really needs. Changes nothing where no Transpose would go.
// What only moves dimensions of one element becomes a Reshape. Shapes may be open.
void sink_transposes(Graph& graph);

// How many Transposes the graph has.
std::size_t count_transposes(const Graph& graph);

}  // namespace headrace
