// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of a file are converted: files need not be sorted.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

// The tensors that a node names; empty names are absent ones.
struct NodeNames {
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> mentioned;  // read perhaps: names in its bodies
  std::vector<std::string_view> outputs;
};

// What order_nodes has to know of the graph besides its nodes.
struct NodeSurroundings {
  std::function<bool(std::string_view)> is_outside;  // whether a name comes from outside the nodes
  std::function<std::string(std::size_t)> text_of;   // a node for messages: "node 'NAME' (TYPE)"
};

// Indices of the nodes that `outputs` need, producers before users and otherwise in the file's order. Throws kBadModel
// naming a missing tensor, one that two nodes make, or the nodes of a cycle.
std::vector<std::size_t> order_nodes(std::span<const NodeNames> nodes, std::span<const std::string_view> outputs,
                                     const NodeSurroundings& around);

}  // namespace headrace::detail
