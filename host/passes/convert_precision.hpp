// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Turns every tensor inside the network whose type is only stored (f16, f64, u16, ...) into its computed_type: f16 is
// storage, arithmetic is f32. Constants are converted (doubles out of the range of f32 to its ends, with a warning; u64
// out of the range of i64 is kUnsupported); Parameters and network outputs keep their type, with a Convert behind or
// before them.
void convert_precision(Graph& graph);

// Attributes that name such a type name the computed one afterwards: Convert's destination_type, Range's output_type.
void widen_attributes(Node& node);

}  // namespace headrace
