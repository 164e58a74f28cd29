// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Declares other shapes for inputs, whatever the file says, with "?" for dimensions that stay open. "" names the only
// input. Whether the layers fit is found by infer_shapes.
// Throws kInvalidArgument for an unknown input, or another number of dimensions than the file's.
void reshape_inputs(Graph& graph, const std::map<std::string, PartialShape>& shapes);

// Sets the batch of every input that has one: the axis n of its layout; without a layout axis 0 where the input has
// two or more dimensions. Returns the names of the inputs that were changed.
// Throws kInvalidArgument where no input has a batch, or one's batch is neither 1 nor open nor the wanted one.
std::vector<std::string> set_batch(Graph& graph, std::int64_t batch);

}  // namespace headrace
