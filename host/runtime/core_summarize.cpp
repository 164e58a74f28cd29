// SPDX-License-Identifier: Apache-2.0
// Core::summarize: of a file's graph, or of the graph as devices run it.
#include <algorithm>

#include "passes/infer_shapes.hpp"
#include "runtime/core_impl.hpp"
#include "runtime/cut_model.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"
#include "runtime/summarize.hpp"

namespace headrace {
namespace {

std::vector<NodeId> without_constants(const Graph& graph, std::vector<NodeId> order) {
  std::erase_if(order, [&](NodeId id) { return graph.at(id).type == "Const"; });
  return order;
}

// Inputs, then one subgraph after the other, as they run, then outputs.
std::vector<NodeId> running_order(const PlacedGraph& placed) {
  std::vector<NodeId> order = placed.graph.parameters();
  for (const Subgraph& subgraph : placed.partition.subgraphs) {
    order.insert(order.end(), subgraph.nodes.begin(), subgraph.nodes.end());
  }
  const auto& results = placed.graph.results();
  order.insert(order.end(), results.begin(), results.end());
  return order;
}

ModelSummary summarize_placed(const PlacedGraph& placed, std::size_t device_count) {
  const std::vector<NodeId> order = running_order(placed);
  ModelSummary summary = summarize_graph(placed.graph, order);
  std::vector<bool> is_used(device_count, false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto found = placed.partition.placements.find(order[i]);
    if (found == placed.partition.placements.end()) continue;
    summary.layers[i].subgraph = static_cast<int>(found->second.subgraph);
    if (found->second.device >= device_count) continue;
    summary.layers[i].device = placed.partition.device_names.at(found->second.device);
    is_used[found->second.device] = true;
  }
  for (std::size_t i = 0; i < device_count; ++i) {
    if (is_used[i]) summary.devices.push_back(placed.partition.device_names.at(i));
  }
  return summary;
}

}  // namespace

ModelSummary Core::summarize(const Model& model, std::string_view devices) const {
  if (devices.empty()) {
    Graph graph = make_wished_graph(model.impl());
    infer_known_shapes(graph);
    return summarize_graph(graph, without_constants(graph, graph.topological_order()));
  }
  std::vector<PartitionDevice> list = partition_devices(impl_->devices.resolve(devices).front());
  const std::size_t count = list.size();
  const bool has_cpu = std::any_of(list.begin(), list.end(), [](const auto& device) { return device.is_cpu_fallback; });
  if (!has_cpu) list.push_back({"none", {}, true});  // so that every layer gets an answer
  const std::vector<Shape> shapes = wished_shapes(model.impl());
  return summarize_placed(place_graph(known_part(make_wished_graph(model.impl()), shapes), shapes, list), count);
}

}  // namespace headrace
