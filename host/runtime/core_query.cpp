// SPDX-License-Identifier: Apache-2.0
// What Core tells about a model without running it: placements, graphs, plans, kernels.
#include <algorithm>
#include <set>

#include "ops/unknown_value.hpp"
#include "partition/dot.hpp"
#include "partition/is_computed.hpp"
#include "passes/pipeline.hpp"
#include "runtime/core_impl.hpp"
#include "runtime/cut_model.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"

namespace headrace {
namespace {

struct QueriedGraph {
  PlacedGraph placed;
  std::optional<std::size_t> nowhere;  // the device that stands for "no device of the list"
};

// The graph as far as its shapes are known before the run.
Graph known_graph(const Model& model) {
  return known_part(make_wished_graph(model.impl()), wished_shapes(model.impl()));
}

// Places the graph on the devices with the CPU behind them, so that every layer gets an answer.
QueriedGraph query(Graph graph, const Model& model, const DeviceList& list) {
  std::vector<PartitionDevice> devices = partition_devices(list);
  std::optional<std::size_t> nowhere;
  const bool has_cpu = std::any_of(devices.begin(), devices.end(), [](const auto& d) { return d.is_cpu_fallback; });
  if (!has_cpu) {
    nowhere = devices.size();
    devices.push_back({"none", {}, true});
  }
  return {place_graph(std::move(graph), wished_shapes(model.impl()), devices), nowhere};
}

std::string dump_partition(const Partition& partition, const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < partition.subgraphs.size(); ++i) {
    const Subgraph& subgraph = partition.subgraphs[i];
    text += "subgraph " + std::to_string(i) + " on " + partition.device_names[subgraph.device] + "\n";
    for (const NodeId id : subgraph.nodes) text += "  " + graph.at(id).name + " (" + graph.at(id).type + ")\n";
  }
  return text;
}

std::string dump_plans(const PlacedGraph& placed, std::span<const PartitionDevice> devices) {
  WeightsCache weights;
  std::string text;
  for (std::size_t i = 0; i < placed.partition.subgraphs.size(); ++i) {
    const Subgraph& subgraph = placed.partition.subgraphs[i];
    const PlanRequest request{placed.graph, subgraph.nodes, subgraph.inputs, subgraph.outputs,
                              devices[subgraph.device].caps};
    text += "subgraph " + std::to_string(i) + " on " + placed.partition.device_names[subgraph.device] + "\n";
    text += dump(*make_device_plan(request, weights));
  }
  return text;
}

void check_stage(std::string_view stage) {
  std::string known = "read";
  for (const Pass& pass : all_passes()) {
    if (pass.name == stage) return;
    known += ", " + std::string(pass.name);
  }
  if (stage == "read" || stage == "partition" || stage == "plan") return;
  fail(ErrorCode::kInvalidArgument,
       "no stage '" + std::string(stage) + "' to dump; stages: " + known + ", partition, plan");
}

}  // namespace

std::vector<LayerPlacement> Core::query_model(const Model& model, std::string_view devices) const {
  const DeviceList list = impl_->devices.resolve(devices).front();
  try {
    const QueriedGraph queried = query(make_wished_graph(model.impl()), model, list);
    return list_placements(queried.placed, *model.impl().graph, queried.nowhere);
  } catch (const UnknownValue& error) {
    const Graph graph = make_wished_graph(model.impl());
    if (!graph.contains(error.node())) throw;
    const LayerCut cut = cut_at_layer(graph, error.node());
    return join_placements(query_model(make_model(cut.head), devices), placement_of_cut(cut.layer, list),
                           list_unplaced(cut.tail, list, reason_of_cut(cut.layer)));
  }
}

std::string Core::query_dot(const Model& model, std::string_view devices) const {
  const QueriedGraph queried = query(known_graph(model), model, impl_->devices.resolve(devices).front());
  return write_dot(queried.placed.graph, queried.placed.partition);
}

std::string Core::dump_after(const Model& model, std::string_view devices, std::string_view stage) const {
  check_stage(stage);
  const std::vector<PartitionDevice> list = partition_devices(impl_->devices.resolve(devices).front());
  std::string text;
  const auto observe = [&](std::string_view name, const Graph& graph) {
    if (name == stage) text = dump(graph);
  };
  Graph graph = prepare_graph(known_graph(model), wished_shapes(model.impl()), list, observe);
  if (stage != "partition" && stage != "plan") return text;
  Partition cut = partition(graph, list);
  if (stage == "partition") return dump_partition(cut, graph);
  return dump_plans({std::move(graph), std::move(cut)}, list);
}

std::vector<std::string> Core::needed_kernels(const Model& model, std::string_view device) const {
  std::vector<PartitionDevice> devices = partition_devices(impl_->devices.resolve(device).front());
  for (PartitionDevice& d : devices) d.caps.has_compiler = true;  // what it would choose, not what it holds
  devices.push_back({"CPU", {}, true});
  const PlacedGraph placed = place_graph(known_graph(model), wished_shapes(model.impl()), devices);
  std::set<std::string> keys;
  WeightsCache weights;
  for (const Subgraph& subgraph : placed.partition.subgraphs) {
    if (devices[subgraph.device].is_cpu_fallback) continue;
    const KernelCaps& caps = devices[subgraph.device].caps;
    const auto plan =
        make_device_plan({placed.graph, subgraph.nodes, subgraph.inputs, subgraph.outputs, caps}, weights);
    for (const PlanStep& step : plan->steps) keys.insert(std::get<Launch>(step.action).instance.key());
  }
  return {keys.begin(), keys.end()};
}

}  // namespace headrace
