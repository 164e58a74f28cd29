// SPDX-License-Identifier: Apache-2.0
#include "passes/graph_changes.hpp"

#include "passes/graph_totals.hpp"

namespace headrace {
namespace {

// Who stands for a layer now, by the layer's name.
struct Heirs {
  std::map<std::string, NodeId, std::less<>> by_name;        // layers that have it
  std::map<std::string, NodeId, std::less<>> by_constant;    // constants that have it
  std::map<std::string, NodeId, std::less<>> by_fused_name;  // layers that swallowed it
};

Heirs find_heirs(const Graph& graph) {
  Heirs heirs;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    if (node.type == "Const") heirs.by_constant.emplace(node.name, id);
    if (!is_layer(node)) continue;
    heirs.by_name.emplace(node.name, id);
    for (const std::string& name : node.fused_names) heirs.by_fused_name.emplace(name, id);
  }
  return heirs;
}

LayerChange change_of(const Graph& graph, const Heirs& heirs, const std::string& name, const std::string& type) {
  const auto told = [&](std::string kind, NodeId id) {
    return LayerChange{std::move(kind), name, type, graph.at(id).name, graph.at(id).type};
  };
  if (const auto heir = heirs.by_name.find(name); heir != heirs.by_name.end()) return told("replaced", heir->second);
  if (const auto heir = heirs.by_fused_name.find(name); heir != heirs.by_fused_name.end()) {
    return told("fused", heir->second);
  }
  // A constant of several outputs is named NAME.PORT.
  const auto constant = heirs.by_constant.lower_bound(name);
  const bool is_folded =
      constant != heirs.by_constant.end() && (constant->first == name || constant->first.starts_with(name + "."));
  return is_folded ? told("folded", constant->second) : LayerChange{"removed", name, type, "", ""};
}

}  // namespace

LayerSnapshot::LayerSnapshot(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    if (is_layer(node)) layers_[id] = {node.name, node.type};
  }
}

std::vector<LayerChange> LayerSnapshot::changes_to(const Graph& graph) const {
  const Heirs heirs = find_heirs(graph);
  std::vector<LayerChange> changes;
  std::map<std::string, bool, std::less<>> had_name;
  for (const auto& [id, layer] : layers_) {
    had_name[layer.name] = true;
    const bool is_same = graph.contains(id) && graph.at(id).type == layer.type;
    if (!is_same) changes.push_back(change_of(graph, heirs, layer.name, layer.type));
  }
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    const bool is_new = is_layer(node) && layers_.count(id) == 0 && had_name.count(node.name) == 0;
    if (is_new) changes.push_back({"added", node.name, node.type, "", ""});
  }
  return changes;
}

}  // namespace headrace
