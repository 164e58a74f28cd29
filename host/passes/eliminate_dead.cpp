// SPDX-License-Identifier: Apache-2.0
#include "passes/eliminate_dead.hpp"

namespace headrace {
namespace {

// MaxPool and AdaptiveMaxPool give indices as a second output that most networks ignore.
void drop_unread_indices(Graph& graph) {
  const UserMap users(graph);
  for (const NodeId id : graph.nodes()) {
    Node& node = graph.at(id);
    if (!node.attributes.has("has_indices") || !node.attributes.get_bool("has_indices")) continue;
    if (node.outputs.size() != 2 || !users.of({id, 1}).empty()) continue;
    node.attributes.set("has_indices", false);
    node.outputs.resize(1);
  }
}

}  // namespace

void eliminate_dead(Graph& graph) {
  graph.remove_dead();
  drop_unread_indices(graph);
}

}  // namespace headrace
