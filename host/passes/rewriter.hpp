// SPDX-License-Identifier: Apache-2.0
// Edits a graph for passes: keeps the users of every tensor up to date, so that an edit costs its own edges only, and
// keeps the names of network inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// All edits of the graph must go through the Rewriter while it lives. Nodes that an edit leaves without users stay
// until the pass ends with Graph::remove_dead. References to nodes are invalid after add.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph);

  const Graph& graph() const { return graph_; }
  // For changes of attributes, values and epilogues; connections change through the functions below.
  Node& at(NodeId id) { return graph_.at(id); }

  // Whether the node has been removed by take_over or bypass in this pass.
  bool is_removed(NodeId id) const;
  const std::vector<Graph::User>& users(PortRef ref) const;
  // Whether a Result reads the tensor.
  bool is_output(PortRef ref) const;
  // The reader of the tensor where there is exactly one, and it is no Result.
  std::optional<Graph::User> only_user(PortRef ref) const;

  // Adds a node whose outputs are resolved.
  PortRef add(Node node);
  PortRef add_const(const std::string& name, Tensor value);
  void set_input(NodeId id, std::size_t index, PortRef source);
  // Returns the new input's index.
  std::int32_t append_input(NodeId id, PortRef source);
  // Drops every input from `count` on.
  void truncate_inputs(NodeId id, std::size_t count);

  // `to` now computes the value that `from` had (an epilogue was fused, a pattern replaced): it takes over users,
  // tensor names and the layer names of from's node, which goes where it has no other output. The old names of `to`
  // go: that tensor exists no more. `to` must not be a network output.
  void take_over(PortRef from, PortRef to);

  // The same without the layer names: the caller keeps them.
  void replace(PortRef from, PortRef to);

  // `from` holds the same values as `to`: readers of `from` read `to`. Returns false and changes nothing where a
  // network output would lose its name: both are outputs, or `from` is one and `to` a Parameter or a constant.
  bool bypass(PortRef from, PortRef to);

 private:
  void make_room(NodeId id);
  void move_users(PortRef from, PortRef to);
  void forget(PortRef source, NodeId user, std::size_t index);
  void remove_if_unread(NodeId id);

  Graph& graph_;
  std::vector<std::vector<std::vector<Graph::User>>> users_;  // [node][port]
  std::vector<bool> is_removed_;
};

// What most passes are: `edit` at every node in topological order that no edit before it has removed, then remove_dead.
void rewrite_each(Graph& graph, void (*edit)(Rewriter& rewriter, NodeId id));

}  // namespace headrace
