// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// A FakeQuantize of 256 levels whose output range is its input range becomes the activation of the layer before it,
// where it is the only reader, and that layer has no activation or a ReLU or Clamp that leaves the range as it is.
// Runs behind quantize_to_int8, which looks for FakeQuantize: what is left stands before layers that compute in floats,
// and would cost a walk over memory each.
void fuse_fake_quantize(Graph& graph);

}  // namespace headrace
