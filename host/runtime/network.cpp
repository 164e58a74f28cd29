// SPDX-License-Identifier: Apache-2.0
#include "runtime/network.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "partition/is_computed.hpp"
#include "passes/infer_shapes.hpp"
#include "passes/pipeline.hpp"
#include "passes/value_inputs.hpp"

namespace headrace {
namespace {

// Numbers the tensors at the borders of subgraphs.
class Boundary {
 public:
  Boundary(const Graph& graph, Network& network) : graph_(graph), network_(network) {
    for (const NodeId id : graph.parameters()) add({id, 0});
  }

  std::size_t add(PortRef ref) {
    const OutputInfo& info = graph_.info(ref);
    HEADRACE_ASSERT(info.is_resolved, "boundary tensor without a shape");
    const auto [entry, is_new] = numbers_.emplace(ref, network_.tensors.size());
    if (is_new) network_.tensors.push_back({info.type, info.shape});
    return entry->second;
  }

  NetworkOutput make_output(NodeId result) {
    const PortRef source = graph_.at(result).inputs[0];
    const OutputInfo& info = graph_.info(source);
    NetworkOutput output{0, std::nullopt, {info.type, info.shape}};
    if (is_const(graph_, source)) {
      output.constant = graph_.at(source).value;
    } else {
      output.tensor = add(source);
    }
    return output;
  }

 private:
  const Graph& graph_;
  Network& network_;
  std::map<PortRef, std::size_t> numbers_;
};

LoadedSubgraph plan_subgraph(const PlacedGraph& placed, const Subgraph& subgraph, const KernelCaps& caps,
                             WeightsCache& weights) {
  LoadedSubgraph planned;
  planned.device = subgraph.device;
  const PlanRequest request{placed.graph, subgraph.nodes, subgraph.inputs, subgraph.outputs, caps};
  planned.plan = make_device_plan(request, weights, &planned.stats);
  return planned;
}

// Whether every device but the fallback multiplies bytes faster than floats: one graph serves them all. What the
// fallback gets of such a graph is right there too, by plain loops.
bool have_int8(std::span<const PartitionDevice> devices) {
  bool is_found = false;
  for (const PartitionDevice& device : devices) {
    if (device.is_cpu_fallback) continue;
    if (!device.caps.has_vnni || device.caps.exact_nan) return false;  // a byte has no NaN
    is_found = true;
  }
  return is_found;
}

LayerPlacement placement_of(const PlacedGraph& placed, const Node& node, std::optional<std::size_t> nowhere) {
  const Placement& placement = placed.partition.placements.at(node.id);
  const auto& names = placed.partition.device_names;
  LayerPlacement row;
  row.layer = node.name;
  row.type = layer_type(node);
  if (placement.device != nowhere) row.device = names[placement.device];
  row.subgraph = static_cast<int>(placement.subgraph);
  for (const std::string& fused : node.fused_names) {
    if (fused != node.name) row.fused.push_back(fused);
  }
  for (const Refusal& refusal : placement.refusals) row.refusals.push_back({names[refusal.device], refusal.reason});
  return row;
}

}  // namespace

bool operator==(const NetworkKey& a, const NetworkKey& b) {
  const auto is_same = [](const std::optional<Tensor>& x, const std::optional<Tensor>& y) {
    if (!x || !y) return x.has_value() == y.has_value();
    return x->shape() == y->shape() && (x->count() == 0 || std::memcmp(x->data(), y->data(), x->size_bytes()) == 0);
  };
  return a.shapes == b.shapes &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), is_same);
}

std::string layer_type(const Node& node) { return node.source_type.empty() ? node.type : node.source_type; }

Graph bind_values(Graph graph, const NetworkKey& key) {
  for (std::size_t i = 0; i < key.values.size(); ++i) {
    if (key.values[i]) bind_input(graph, i, *key.values[i]);
  }
  return graph;
}

Graph prepare_graph(Graph graph, std::span<const Shape> input_shapes, std::span<const PartitionDevice> devices,
                    const GraphObserver& observe) {
  std::map<std::string, Shape> shapes;
  for (std::size_t i = 0; i < input_shapes.size(); ++i) {
    shapes[graph.at(graph.parameters()[i]).name] = input_shapes[i];
  }
  infer_shapes(graph, shapes);
  if (observe) observe("read", graph);
  run_passes(graph, {.has_int8 = have_int8(devices), .dump = observe});
  return graph;
}

PlacedGraph place_graph(Graph graph, std::span<const Shape> input_shapes, std::span<const PartitionDevice> devices) {
  Graph prepared = prepare_graph(std::move(graph), input_shapes, devices);
  Partition cut = partition(prepared, devices);
  return {std::move(prepared), std::move(cut)};
}

std::vector<PartitionDevice> partition_devices(const DeviceList& list) {
  std::vector<PartitionDevice> result;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    const Device& device = *list.devices[i];
    result.push_back({list.names[i], device.caps(), device.info().type == DeviceType::kCpuFallback});
  }
  return result;
}

std::shared_ptr<Network> plan_network(const PlacedGraph& placed, const DeviceList& devices,
                                      std::span<const PartitionDevice> planned, const Graph& original,
                                      WeightsCache& weights) {
  auto network = std::make_shared<Network>();
  network->devices = devices;
  Boundary boundary(placed.graph, *network);
  for (const Subgraph& subgraph : placed.partition.subgraphs) {
    LoadedSubgraph made = plan_subgraph(placed, subgraph, planned[subgraph.device].caps, weights);
    for (const PortRef& ref : subgraph.inputs) made.inputs.push_back(boundary.add(ref));
    for (const PortRef& ref : subgraph.outputs) made.outputs.push_back(boundary.add(ref));
    network->subgraphs.push_back(std::move(made));
  }
  for (const NodeId result : placed.graph.results()) network->outputs.push_back(boundary.make_output(result));
  network->placements = list_placements(placed, original);
  return network;
}

void load_network(Network& network, const LoadOptions& options) {
  for (LoadedSubgraph& subgraph : network.subgraphs) {
    subgraph.executable = network.devices.devices[subgraph.device]->load(subgraph.plan, options);
  }
}

std::size_t count_unbuilt(const Network& network) {
  std::size_t count = 0;
  for (const LoadedSubgraph& subgraph : network.subgraphs) {
    count += network.devices.devices[subgraph.device]->count_unbuilt(*subgraph.plan);
  }
  return count;
}

std::vector<LayerPlacement> list_placements(const PlacedGraph& placed, const Graph& original,
                                            std::optional<std::size_t> nowhere) {
  std::vector<LayerPlacement> rows;
  std::set<std::string> seen;
  for (const NodeId id : placed.graph.topological_order()) {
    const Node& node = placed.graph.at(id);
    if (!is_computed(node)) continue;
    rows.push_back(placement_of(placed, node, nowhere));
    seen.insert(node.name);
    seen.insert(node.fused_names.begin(), node.fused_names.end());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.subgraph < b.subgraph; });
  for (const NodeId id : original.topological_order()) {
    const Node& node = original.at(id);
    if (!is_computed(node) || seen.count(node.name) != 0) continue;
    LayerPlacement row;
    row.layer = node.name;
    row.type = layer_type(node);
    row.refusals.push_back({"-", "nothing is left to compute at run time"});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headrace
