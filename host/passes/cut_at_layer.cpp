// SPDX-License-Identifier: Apache-2.0
#include "passes/cut_at_layer.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace headrace {
namespace {

struct Marks {
  std::vector<bool> is_behind_layer;  // by node id; the layer itself is not
  std::vector<bool> is_in_tail;       // behind the layer, or a constant that such a node reads
};

std::size_t index(NodeId id) { return static_cast<std::size_t>(id.value); }

Marks mark(const Graph& graph, std::span<const NodeId> order, NodeId layer) {
  std::size_t count = 0;
  for (const NodeId id : order) count = std::max(count, index(id) + 1);
  Marks marks{std::vector<bool>(count, false), std::vector<bool>(count, false)};
  std::vector<bool> is_constant(count, false);  // computed from constants alone
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    bool is_behind = false;
    bool is_fixed = node.type != "Parameter" && id != layer;
    for (const PortRef& input : node.inputs) {
      is_behind = is_behind || input.node == layer || marks.is_behind_layer[index(input.node)];
      is_fixed = is_fixed && is_constant[index(input.node)];
    }
    marks.is_behind_layer[index(id)] = is_behind;
    is_constant[index(id)] = is_fixed;
  }
  marks.is_in_tail = marks.is_behind_layer;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!marks.is_in_tail[index(*id)]) continue;
    for (const PortRef& input : graph.at(*id).inputs) {
      if (is_constant[index(input.node)]) marks.is_in_tail[index(input.node)] = true;
    }
  }
  return marks;
}

// Builds the halves; each tensor that goes from one to the other once.
class Cutter {
 public:
  Cutter(const Graph& graph, NodeId layer)
      : graph_(graph), layer_(layer), order_(graph.topological_order()), marks_(mark(graph, order_, layer)) {}

  LayerCut cut() {
    cut_.head = graph_;
    cut_.head.name = graph_.name + "/head";
    cut_.tail.name = graph_.name + "/tail";
    cut_.layer = graph_.at(layer_);
    for (const PortRef& input : cut_.layer.inputs) cut_.layer_inputs.push_back(head_result(input));
    for (const NodeId id : order_) {
      if (marks_.is_in_tail[index(id)] && graph_.at(id).type != "Result") copy_to_tail(id);
    }
    for (const NodeId id : graph_.results()) add_output(id);
    for (const NodeId id : graph_.results()) cut_.head.remove(id);
    cut_.head.remove_dead();
    return std::move(cut_);
  }

 private:
  // The number among the head's Results of one that reads this tensor.
  std::size_t head_result(PortRef source) {
    const auto [entry, is_new] = head_results_.emplace(source, head_results_.size());
    if (is_new) {
      Node result;
      result.name = graph_.at(source).name + "/cut" + std::to_string(source.port);
      result.type = "Result";
      result.inputs = {source};
      cut_.head.add(std::move(result));
    }
    return entry->second;
  }

  void copy_to_tail(NodeId id) {
    Node node = graph_.at(id);
    for (PortRef& input : node.inputs) input = tail_tensor(input);
    for (OutputInfo& output : node.outputs) output.is_resolved = false;
    copies_[id] = cut_.tail.add(std::move(node));
  }

  // The tail's own tensor for one of the network.
  PortRef tail_tensor(PortRef source) {
    if (const auto copy = copies_.find(source.node); copy != copies_.end()) return {copy->second, source.port};
    const auto [entry, is_new] = tail_parameters_.emplace(source, NodeId{});
    if (is_new) entry->second = add_tail_parameter(source);
    return {entry->second, 0};
  }

  NodeId add_tail_parameter(PortRef source) {
    const bool is_of_layer = source.node == layer_;
    cut_.tail_inputs.push_back(
        {is_of_layer, is_of_layer ? static_cast<std::size_t>(source.port) : head_result(source)});
    Node node;
    node.type = "Parameter";
    node.source_type = "cut";
    node.name = graph_.at(source).name + "/cut" + std::to_string(source.port);
    node.declared_shape.is_rank_known = false;
    OutputInfo output = graph_.info(source);
    output.is_resolved = false;
    node.outputs.push_back(std::move(output));
    return cut_.tail.add(std::move(node));
  }

  void add_output(NodeId result) {
    const PortRef source = graph_.at(result).inputs.at(0);
    const bool is_in_tail = source.node == layer_ || marks_.is_behind_layer[index(source.node)];
    if (!is_in_tail) {
      cut_.outputs.push_back({false, head_result(source)});
      return;
    }
    Node node = graph_.at(result);
    node.inputs = {tail_tensor(source)};
    cut_.tail.add(std::move(node));
    cut_.outputs.push_back({true, cut_.tail.results().size() - 1});
  }

  const Graph& graph_;
  const NodeId layer_;
  const std::vector<NodeId> order_;
  const Marks marks_;
  LayerCut cut_;
  std::map<PortRef, std::size_t> head_results_;
  std::map<PortRef, NodeId> tail_parameters_;
  std::map<NodeId, NodeId> copies_;
};

}  // namespace

LayerCut cut_at_layer(const Graph& graph, NodeId layer) { return Cutter(graph, layer).cut(); }

}  // namespace headrace
