// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// A Multiply and an Add by one constant per channel (axis 1) become one BatchNormInference, which reads and writes the
// tensor once. For what fold_scale and fuse_bias could not fold into weights: networks that normalize in front of the
// convolution behind a ReLU (DenseNet).
void recompose_batch_norm(Graph& graph);

}  // namespace headrace
