// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// fold_constants for a network that is written to a file: weights stored in bytes stay as they are (a Convert of an i8
// or u8 constant to floats, a FakeQuantize of constants), since readers compute in bytes only where they find these.
void fold_portable(Graph& graph);

// Whether the network holds quantized layers or weights in bytes.
bool is_quantized(const Graph& graph);

// Whether the node makes floats of a constant that is stored in bytes, or quantizes one.
bool is_byte_weights(const Graph& graph, const Node& node);

}  // namespace headrace
