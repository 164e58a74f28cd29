// SPDX-License-Identifier: Apache-2.0
// Puts bodies whose runs are known before the run in place of their nodes.
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Replaces an If whose condition is a constant by the chosen branch, and a Loop or TensorIterator of few and known
// iterations by as many copies of its body. Constants are folded on the way, so that conditions that follow from
// shapes are found. What is left runs on the host, as one layer.
void inline_bodies(Graph& graph);

}  // namespace headrace
