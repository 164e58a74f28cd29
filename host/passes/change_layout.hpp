// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Writes down an input's layout ("nhwc"; "?" for an axis without a meaning of its own) as the attribute `layout` of its
// Parameter, "[N,H,W,C]", which the IR keeps. Throws kInvalidArgument where the layout has another number of letters
// than the input has dimensions, or a letter twice.
void set_layout(Graph& graph, const std::string& input, const std::string& layout);

// Has callers give an input in another layout than the network takes it: its shape and layout change, and a Transpose
// back stands behind it. Of an output: a Transpose stands before it. `name` is looked for among the inputs first.
// Throws kInvalidArgument where the two layouts have not the same letters.
void change_layout(Graph& graph, const std::string& name, const std::string& from, const std::string& to);

}  // namespace headrace
