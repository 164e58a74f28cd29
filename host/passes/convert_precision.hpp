// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Turns every f16 tensor inside the network into f32: f16 is storage, arithmetic is f32. Constants are converted;
// Parameters and network outputs keep their type, with a Convert behind or before them.
void convert_precision(Graph& graph);

// Attributes that name f16 name f32 afterwards: Convert's destination_type, Range's output_type.
void widen_attributes(Node& node);

}  // namespace headrace
