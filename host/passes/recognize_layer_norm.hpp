// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Finds MVN written as (x - mean) / sqrt(mean((x - mean)^2) + eps), as ONNX exporters write LayerNorm.
void recognize_layer_norm(Graph& graph);

}  // namespace headrace
