// SPDX-License-Identifier: Apache-2.0
// Runs single nodes on known values, for shape inference and constant folding.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// Whether the node's result depends on the shape of its input only (ShapeOf).
bool reads_only_shape(const Node& node);

// Stands for a tensor whose values nobody reads: its shape without its memory.
Tensor shape_only_tensor(const OutputInfo& info);

// Whether the node's reference takes these types: f16 is storage, so references read and write it in Convert only.
// (After convert_precision there are no others.)
bool is_evaluable(const Graph& graph, const Node& node);

// Runs the node's reference and epilogue. The node's outputs must be resolved; inputs dense, aligned for their types.
std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor> inputs);

}  // namespace headrace
