// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Has the network take its pictures with the channels in the other order (BGR for RGB): a Gather of the channels 2, 1,
// 0 stands behind the input. Before subtract_mean and divide_scale nothing may stand there: their numbers are in the
// order of the network, so the swap comes first when the network runs. Returns the names of the inputs that were
// changed: `input`, or without a name every one with an axis of three channels.
// Throws kInvalidArgument where there is none, or it cannot be told which axis it is.
std::vector<std::string> reverse_channels(Graph& graph, const std::string& input = "");

}  // namespace headrace
