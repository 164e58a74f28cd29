// SPDX-License-Identifier: Apache-2.0
// Network inputs whose values, not only shapes, decide the shapes of other tensors: a Reshape's target, a Slice's ends.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.hpp"
#include "graph/graph.hpp"

namespace headrace {

// Most elements of an input whose value may decide shapes: a shape, pads, scales. A network is made for every value, so
// larger ones count as data.
inline constexpr std::int64_t kMaxShapeInputElems = 16;

// Positions among parameters() of the inputs that the values of `sources` are computed from, ascending. A source that
// depends on an input of more than kMaxShapeInputElems elements gives none: following data through the graph would be
// running the network. The graph's Parameters have shapes; nodes that it does not hold are left out.
std::vector<std::size_t> inputs_behind(const Graph& graph, const std::vector<PortRef>& sources);

// Makes the readers of an input, Results excepted, read a constant instead. The Parameter stays.
void bind_input(Graph& graph, std::size_t position, const Tensor& value);

}  // namespace headrace
