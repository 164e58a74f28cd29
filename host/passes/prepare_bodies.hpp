// SPDX-License-Identifier: Apache-2.0
// Makes the bodies that stay inside nodes ready to run: f32 instead of f16, constants folded.
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// As convert_precision and fold_constants do for the graph itself, which comes first: bodies then read and give f32.
// Shapes inside need not be known.
void prepare_bodies(Graph& graph);

}  // namespace headrace
