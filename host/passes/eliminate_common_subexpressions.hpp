// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Computes equal nodes (type, attributes, inputs) once; equal constants become one.
void eliminate_common_subexpressions(Graph& graph);

}  // namespace headrace
