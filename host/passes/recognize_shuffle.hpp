// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Finds ShuffleChannels written as Reshape (an axis split into groups and members), Transpose of the two, Reshape back.
void recognize_shuffle(Graph& graph);

}  // namespace headrace
