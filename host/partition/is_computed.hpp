// SPDX-License-Identifier: Apache-2.0
// Which nodes are placed on devices.
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Const, Parameter and Result are the network's boundary: they hold or pass tensors and run nowhere.
inline bool is_computed(const Node& node) {
  return node.type != "Const" && node.type != "Parameter" && node.type != "Result";
}

}  // namespace headrace
