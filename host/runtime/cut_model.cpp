// SPDX-License-Identifier: Apache-2.0
#include "runtime/cut_model.hpp"

#include <algorithm>

#include "core/file.hpp"
#include "core/log.hpp"
#include "partition/is_computed.hpp"
#include "passes/infer_shapes.hpp"

namespace headrace {
namespace {

bool is_host(const Device& device) { return device.info().type == DeviceType::kCpuFallback; }

// Every device of the list but the host with a reason.
std::vector<LayerPlacement::Refusal> refuse_devices(const DeviceList& devices, const std::string& reason) {
  std::vector<LayerPlacement::Refusal> refusals;
  for (std::size_t i = 0; i < devices.devices.size(); ++i) {
    if (!is_host(*devices.devices[i])) refusals.push_back({devices.names[i], reason});
  }
  return refusals;
}

}  // namespace

CutModel::CutModel(LayerCut cut, Compile compile) : cut_(std::move(cut)), compile_(std::move(compile)) {
  head_ = compile_(cut_.head, false);
}

CutModel::Compiled CutModel::tail(std::span<const Tensor> inputs) const {
  const std::lock_guard lock(mutex_);
  if (tail_ != nullptr) return tail_;
  Graph graph = cut_.tail;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    graph.at(graph.parameters().at(i)).outputs.at(0).type = inputs[i].type();
  }
  return tail_ = compile_(std::move(graph), true);
}

CutModel::Compiled CutModel::tail_if_made() const {
  const std::lock_guard lock(mutex_);
  return tail_;
}

std::string reason_of_cut(const Node& layer) {
  return "its shape is known in the run only, behind layer " + quote(layer.name) + " (" + layer_type(layer) + ")";
}

Graph known_part(Graph graph, std::span<const Shape> input_shapes, bool is_quiet) {
  for (std::size_t i = 0; i < input_shapes.size(); ++i) {
    graph.at(graph.parameters().at(i)).declared_shape = PartialShape(input_shapes[i]);
  }
  while (true) {
    try {
      Graph inferred = graph;
      infer_shapes(inferred);
      return graph;
    } catch (const UnknownValue& error) {
      if (!graph.contains(error.node())) throw;
      if (!is_quiet) log(LogLevel::kWarn, "cut", "what lies behind it is left out: " + std::string(error.what()));
      graph = cut_at_layer(graph, error.node()).head;
    }
  }
}

std::vector<DeviceList> tail_lists(const std::vector<DeviceList>& lists) {
  std::vector<DeviceList> result;
  for (const DeviceList& list : lists) {
    DeviceList host{{}, {}, list.streams};
    for (std::size_t i = 0; i < list.devices.size(); ++i) {
      if (!is_host(*list.devices[i])) continue;
      host.devices.push_back(list.devices[i]);
      host.names.push_back(list.names[i]);
    }
    result.push_back(host.devices.empty() ? list : host);
  }
  return result;
}

std::vector<LayerPlacement> list_unplaced(const Graph& tail, const DeviceList& devices, const std::string& reason) {
  const DeviceList list = tail_lists({devices}).front();
  std::vector<LayerPlacement> rows;
  for (const NodeId id : tail.topological_order()) {
    const Node& node = tail.at(id);
    if (!is_computed(node)) continue;
    LayerPlacement row;
    row.layer = node.name;
    row.type = layer_type(node);
    row.device = list.names.front();
    if (list.names.size() != devices.names.size()) row.refusals = refuse_devices(devices, reason);
    rows.push_back(std::move(row));
  }
  return rows;
}

LayerPlacement placement_of_cut(const Node& layer, const DeviceList& devices) {
  LayerPlacement row;
  row.layer = layer.name;
  row.type = layer_type(layer);
  row.device = "CPU";
  row.refusals = refuse_devices(devices, "its output shape is known in the run only: the host computes it");
  return row;
}

std::vector<LayerPlacement> join_placements(std::vector<LayerPlacement> head, LayerPlacement layer,
                                            std::vector<LayerPlacement> tail) {
  int last = -1;
  for (const LayerPlacement& row : head) last = std::max(last, row.subgraph);
  layer.subgraph = last + 1;
  head.push_back(std::move(layer));
  for (LayerPlacement& row : tail) {
    if (row.subgraph >= 0) row.subgraph += last + 2;
    head.push_back(std::move(row));
  }
  return head;
}

}  // namespace headrace
