// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Folds Multiply by per-channel constants into the constant weights of the Convolution, GroupConvolution,
// ConvolutionBackpropData or MatMul before it (output channels) or after it (input channels; an Add between them
// stays, rescaled). Exact with padding, since padding is zero.
void fold_scale(Graph& graph);

}  // namespace headrace
