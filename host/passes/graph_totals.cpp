// SPDX-License-Identifier: Apache-2.0
#include "passes/graph_totals.hpp"

#include <algorithm>

#include "ops/descriptor.hpp"

namespace headrace {
namespace {

bool is_number_store(ElementType type) {
  return is_floating(type) || type == ElementType::i8 || type == ElementType::u8;
}

std::int64_t bytes_of(ElementType type, const Shape& shape) {
  return count_elems(shape) * static_cast<std::int64_t>(size_bytes(type));
}

bool is_resolved(const Graph& graph, const Node& node) {
  const auto has_shape = [](const OutputInfo& info) { return info.is_resolved; };
  return std::all_of(node.outputs.begin(), node.outputs.end(), has_shape) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const PortRef& input) { return has_shape(graph.info(input)); });
}

std::int64_t epilogue_flops(const Node& node) {
  if (node.outputs.empty()) return 0;
  const std::int64_t parts = (node.epilogue.bias_input >= 0 ? 1 : 0) + (node.epilogue.residual_input >= 0 ? 1 : 0) +
                             (node.epilogue.activation != Activation::kNone ? 1 : 0);
  return parts * count_elems(node.outputs[0].shape);
}

Cost operator_cost(const Graph& graph, const Node& node) {
  std::vector<InferInput> inputs;
  std::vector<InferOutput> outputs;
  Cost cost;
  for (const PortRef& input : node.inputs) {
    const OutputInfo& info = graph.info(input);
    inputs.push_back({info.type, info.shape, is_const(graph, input) ? &graph.at(input).value : nullptr});
    cost.bytes += bytes_of(info.type, info.shape);
  }
  for (const OutputInfo& info : node.outputs) {
    outputs.push_back({info.type, info.shape});
    cost.bytes += bytes_of(info.type, info.shape);
  }
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->cost == nullptr) return cost;
  return op->cost(node, inputs, outputs);
}

}  // namespace

bool is_layer(const Node& node) { return node.type != "Const" && node.type != "Parameter" && node.type != "Result"; }

std::optional<LayerCost> layer_cost(const Graph& graph, const Node& node) {
  if (!is_layer(node) || !is_resolved(graph, node)) return std::nullopt;
  const Cost cost = operator_cost(graph, node);
  LayerCost result{cost.flops + epilogue_flops(node), cost.bytes, 0, 0};
  for (const PortRef& input : node.inputs) {
    const OutputInfo& info = graph.info(input);
    if (!is_const(graph, input) || !is_number_store(info.type)) continue;
    result.parameters += count_elems(info.shape);
    result.weight_bytes += bytes_of(info.type, info.shape);
  }
  return result;
}

GraphTotals count_graph(const Graph& graph) {
  GraphTotals totals;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    if (node.type == "Const") {
      ++totals.constants;
      totals.constant_bytes += static_cast<std::int64_t>(node.value.size_bytes());
      if (is_number_store(node.value.type())) totals.parameters += node.value.count();
    }
    if (!is_layer(node)) continue;
    ++totals.layers;
    ++totals.layers_by_type[node.type];
    const auto cost = layer_cost(graph, node);
    totals.is_complete = totals.is_complete && cost.has_value();
    totals.flops += cost ? cost->flops : 0;
    totals.moved_bytes += cost ? cost->bytes : 0;
  }
  return totals;
}

}  // namespace headrace
