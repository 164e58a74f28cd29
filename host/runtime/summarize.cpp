// SPDX-License-Identifier: Apache-2.0
#include "runtime/summarize.hpp"

#include <algorithm>
#include <map>

#include "passes/graph_totals.hpp"
#include "runtime/network.hpp"

namespace headrace {
namespace {

std::int64_t bytes_of(const OutputInfo& info) {
  return count_elems(info.shape) * static_cast<std::int64_t>(size_bytes(info.type));
}

using Places = std::map<NodeId, std::size_t>;  // position in the order

ModelSummary::Layer make_layer(const Graph& graph, const Node& node, const Places& places) {
  ModelSummary::Layer layer;
  layer.name = node.type == "Parameter" ? input_name(graph, node.id)
               : node.type == "Result"  ? output_name(graph, node.id)
                                        : node.name;
  layer.type = layer_type(node);
  for (const PortRef& input : node.inputs) {
    const auto place = places.find(input.node);
    if (place != places.end()) layer.inputs.push_back({place->second, static_cast<std::size_t>(input.port)});
  }
  for (const OutputInfo& info : node.outputs) {
    layer.outputs.push_back({std::string(to_string(info.type)), info.is_resolved ? to_string(info.shape) : ""});
  }
  for (const std::string& fused : node.fused_names) {
    if (fused != node.name) layer.fused.push_back(fused);
  }
  if (!is_layer(node)) {
    layer.flops = 0;
    layer.moved_bytes = 0;
  } else if (const auto cost = layer_cost(graph, node)) {
    layer.flops = cost->flops;
    layer.moved_bytes = cost->bytes;
    layer.parameters = cost->parameters;
    layer.weight_bytes = cost->weight_bytes;
  }
  return layer;
}

// Adds up what lives at each step: a tensor from its producer to its last reader, one that a Result reads to the end.
void fill_live_bytes(const Graph& graph, std::span<const NodeId> order, const Places& places, ModelSummary& summary) {
  std::vector<std::int64_t> change(order.size() + 1, 0);
  const UserMap users(graph);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.at(order[i]);
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      if (!node.outputs[port].is_resolved) return;
      std::size_t last = i;
      for (const Graph::User& user : users.of({node.id, static_cast<std::int32_t>(port)})) {
        const auto place = places.find(user.node);
        if (place != places.end()) last = std::max(last, place->second);
      }
      change[i] += bytes_of(node.outputs[port]);
      change[last + 1] -= bytes_of(node.outputs[port]);
    }
  }
  std::int64_t live = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    live += change[i];
    summary.layers[i].live_bytes = live;
    if (summary.peak_bytes && *summary.peak_bytes >= live) continue;
    summary.peak_bytes = live;
    summary.peak_layer = i;
  }
}

}  // namespace

ModelSummary summarize_graph(const Graph& graph, std::span<const NodeId> order) {
  ModelSummary summary;
  summary.name = graph.name;
  Places places;
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  for (const NodeId id : order) summary.layers.push_back(make_layer(graph, graph.at(id), places));
  const GraphTotals totals = count_graph(graph);
  summary.parameters = totals.parameters;
  summary.weight_bytes = totals.constant_bytes;
  if (totals.is_complete) {
    summary.flops = totals.flops;
    summary.moved_bytes = totals.moved_bytes;
  }
  fill_live_bytes(graph, order, places, summary);
  return summary;
}

}  // namespace headrace
