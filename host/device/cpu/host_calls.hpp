// SPDX-License-Identifier: Apache-2.0
// Makes the function by which the CPU computes a node: oneDNN where it is right and faster, else plain loops.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "ops/descriptor.hpp"

namespace headrace {

struct HostFunction {
  // Takes the node's inputs (constants included) and outputs as dense row-major tensors, like the operator's
  // reference. May be called from several threads at once. Honours the node's epilogue.
  std::function<void(std::span<const Tensor> inputs, std::span<Tensor> outputs)> function;
  std::string label;  // "onednn_convolution", "reference"
};

// Shapes and types must be known; `constant` of an input is read (packed weights) where it is set, and must then be
// what every call is given. Primitives are made here, once. Throws kInternal for an operator without a reference.
HostFunction make_host_function(const Node& node, std::span<const LowerInput> inputs,
                                std::span<const TensorDesc> outputs);

// The same, computed by the operator's reference whatever oneDNN could do.
HostFunction make_reference_function(const Node& node);

}  // namespace headrace
