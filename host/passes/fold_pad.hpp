// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Folds Pad by zeros over the spatial dimensions into the explicit pads of the convolution that reads it.
void fold_pad(Graph& graph);

}  // namespace headrace
