// SPDX-License-Identifier: Apache-2.0
#include "passes/sink_transposes.hpp"

#include <algorithm>

#include "passes/axis_order.hpp"
#include "passes/remove_identities.hpp"

namespace headrace {
namespace {

// The output before a Transpose by `order` gave `info`.
OutputInfo before(const OutputInfo& info, const AxisOrder& order) {
  OutputInfo result{info.type, Shape(order.size()), info.is_resolved, {}};
  if (!info.is_resolved) result.shape.clear();
  for (std::size_t k = 0; k < order.size() && info.is_resolved; ++k) {
    result.shape[static_cast<std::size_t>(order[k])] = info.shape.at(k);
  }
  return result;
}

PortRef add_transpose(Rewriter& rewriter, const std::string& name, PortRef source, const AxisOrder& order,
                      OutputInfo info) {
  Node node;
  node.type = "Transpose";
  node.source_type = "Transpose";
  node.name = name;
  const PortRef constant =
      rewriter.add_const(name + "/order", make_i64_tensor({static_cast<std::int64_t>(order.size())}, order));
  node.inputs = {source, constant};
  info.names.clear();
  node.outputs = {info};
  return rewriter.add(std::move(node));
}

// Reads what the Transposes in front of a node read, and puts one behind it.
void sink_through(Rewriter& rewriter, NodeId id) {
  const Node old = rewriter.graph().at(id);
  std::optional<Reordered> result = reordered(rewriter, old);
  if (!result) return;
  for (OutputInfo& output : result->node.outputs) output = before(output, result->order);
  const PortRef inner = rewriter.add(std::move(result->node));
  for (std::size_t port = 0; port < old.outputs.size(); ++port) {
    const PortRef from{id, static_cast<std::int32_t>(port)};
    const PortRef source{inner.node, from.port};
    const std::string name = old.name + "/layout" + (port == 0 ? "" : "_" + std::to_string(port));
    rewriter.replace(from, add_transpose(rewriter, name, source, result->order, old.outputs[port]));
  }
}

// The outer of two Transposes reads the inner one's source, or both go; so does one that moves nothing.
void merge(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  auto order = transpose_order(graph, graph.at(id));
  if (!order) return;
  PortRef source = graph.at(id).inputs[0];
  bool is_merged = false;
  if (const auto inner = transpose_order(graph, graph.at(source)); inner && inner->size() == order->size()) {
    for (std::int64_t& axis : *order) axis = inner->at(static_cast<std::size_t>(axis));
    source = graph.at(source).inputs[0];
    is_merged = true;
  }
  if (is_identity_order(*order) && rewriter.bypass({id, 0}, source)) return;
  if (!is_merged) return;
  const Node old = graph.at(id);
  rewriter.take_over({id, 0}, add_transpose(rewriter, old.name, source, *order, old.outputs[0]));
}

// Whether only dimensions of one element change their places.
bool moves_ones(const Graph& graph, const Node& node) {
  const auto order = transpose_order(graph, node);
  if (!order || order->size() < 4 || !node.outputs[0].is_resolved) return false;
  std::int64_t last = -1;
  for (std::size_t k = 0; k < order->size(); ++k) {
    if (node.outputs[0].shape[k] == 1) continue;
    if ((*order)[k] < last) return false;
    last = (*order)[k];
  }
  return true;
}

void reshape_ones(Rewriter& rewriter, NodeId id) {
  if (!moves_ones(rewriter.graph(), rewriter.graph().at(id))) return;
  const Node old = rewriter.graph().at(id);
  const Shape& shape = old.outputs[0].shape;
  Node node;
  node.type = "Reshape";
  node.source_type = old.source_type;
  node.name = old.name;
  node.attributes.set("special_zero", false);
  node.inputs = {old.inputs[0], rewriter.add_const(old.name + "/shape",
                                                   make_i64_tensor({static_cast<std::int64_t>(shape.size())}, shape))};
  node.outputs = {{old.outputs[0].type, shape, true, {}}};
  rewriter.take_over({id, 0}, rewriter.add(std::move(node)));
}

void sink(Graph& graph) {
  Rewriter rewriter(graph);
  // Producers come first, so that one walk sinks every Transpose as far as it goes.
  for (const NodeId id : graph.topological_order()) {
    if (rewriter.is_removed(id)) continue;
    if (graph.at(id).type == "Transpose") {
      merge(rewriter, id);
    } else if (!graph.at(id).inputs.empty() && graph.at(id).type != "Result") {
      sink_through(rewriter, id);
    }
  }
  graph.remove_dead();
}

void clean_up(Graph& graph) {
  {
    Rewriter rewriter(graph);
    for (const NodeId id : graph.topological_order()) {
      if (!rewriter.is_removed(id)) merge(rewriter, id);
    }
    for (const NodeId id : graph.nodes()) {
      if (!rewriter.is_removed(id)) reshape_ones(rewriter, id);
    }
  }
  graph.remove_dead();
  const bool is_resolved = std::all_of(graph.parameters().begin(), graph.parameters().end(),
                                       [&](NodeId id) { return graph.at(id).outputs[0].is_resolved; });
  if (is_resolved) remove_identities(graph);
}

}  // namespace

std::size_t count_transposes(const Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) { return graph.at(id).type == "Transpose"; }));
}

void sink_transposes(Graph& graph) {
  if (count_transposes(graph) < 2) return;
  Graph trial = graph;
  sink(trial);
  clean_up(trial);
  if (count_transposes(trial) < count_transposes(graph)) graph = std::move(trial);
}

}  // namespace headrace
