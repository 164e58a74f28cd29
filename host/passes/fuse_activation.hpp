// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/rewriter.hpp"

namespace headrace {

// Fuses an activation into the node before it, where that operator's kernel computes it (OpDescriptor::fuses) and
// nothing else reads the tensor between.
void fuse_activation(Graph& graph);

struct Fusable {
  Activation activation = Activation::kNone;
  double alpha = 0.0;
  double beta = 0.0;
};

// Where the node is the only reader of its first input and the layer that makes it can take the activation, the layer
// does, in place of what activation it has, and the node goes.
void move_into_epilogue(Rewriter& rewriter, NodeId id, const Fusable& fusable);

}  // namespace headrace
