// SPDX-License-Identifier: Apache-2.0
#include "passes/remove_identities.hpp"

#include <algorithm>

#include "passes/axis_order.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

bool is_reshape_like(const Node& node) {
  return node.type == "Reshape" || node.type == "Squeeze" || node.type == "Unsqueeze" || node.type == "Flatten";
}

bool is_all_zero(const Graph& graph, PortRef ref) {
  if (!is_const(graph, ref)) return false;
  const auto values = to_int64s(graph.at(ref).value);
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value == 0; });
}

// Whether output 0 holds the same elements in the same order as input 0.
bool is_identity(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.outputs.size() != 1) return false;
  const OutputInfo& from = graph.info(node.inputs[0]);
  const OutputInfo& to = node.outputs[0];
  if (from.shape != to.shape || from.type != to.type) return false;
  if (node.type == "Convert" || node.type == "Broadcast" || node.type == "Tile" || is_reshape_like(node)) return true;
  if (node.type == "Concat") return node.inputs.size() == 1;
  if (node.type == "Split" || node.type == "VariadicSplit") return true;
  if (node.type == "Pad") return is_all_zero(graph, node.inputs.at(1)) && is_all_zero(graph, node.inputs.at(2));
  if (node.type == "Transpose") {
    const auto order = transpose_order(graph, node);
    return order.has_value() && is_identity_order(*order);
  }
  return false;
}

// The outer of two reshapes reads the inner one's source. Only the final shape matters.
void merge_reshapes(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const PortRef inner = graph.at(id).inputs.at(0);
  if (!is_reshape_like(graph.at(id)) || !is_reshape_like(graph.at(inner)) || rewriter.is_removed(inner.node)) return;
  const Shape shape = graph.at(id).outputs.at(0).shape;
  const PortRef source = graph.at(inner).inputs.at(0);
  const PortRef target = rewriter.add_const(graph.at(id).name + "/shape",
                                            make_i64_tensor({static_cast<std::int64_t>(shape.size())}, shape));
  const PortRef merged = add_op(rewriter, "Reshape", graph.at(id).name, {source, target}, {{"special_zero", "false"}});
  rewriter.take_over({id, 0}, merged);
}

void merge_transposes(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const PortRef inner = graph.at(id).inputs.at(0);
  if (graph.at(id).type != "Transpose" || graph.at(inner).type != "Transpose") return;
  const auto outer_order = transpose_order(graph, graph.at(id));
  const auto inner_order = transpose_order(graph, graph.at(inner));
  if (!outer_order || !inner_order) return;
  std::vector<std::int64_t> order;
  for (const std::int64_t axis : *outer_order) order.push_back(inner_order->at(static_cast<std::size_t>(axis)));
  const PortRef source = graph.at(inner).inputs.at(0);
  if (is_identity_order(order) && rewriter.bypass({id, 0}, source)) return;
  const PortRef constant = rewriter.add_const(graph.at(id).name + "/order",
                                              make_i64_tensor({static_cast<std::int64_t>(order.size())}, order));
  const PortRef merged = add_op(rewriter, "Transpose", graph.at(id).name, {source, constant});
  rewriter.take_over({id, 0}, merged);
}

}  // namespace

void remove_identities(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (rewriter.is_removed(id)) continue;
    if (is_identity(graph, graph.at(id)) && rewriter.bypass({id, 0}, graph.at(id).inputs[0])) continue;
    if (graph.at(id).inputs.empty()) continue;
    merge_reshapes(rewriter, id);
    if (rewriter.is_removed(id)) continue;
    merge_transposes(rewriter, id);
  }
  graph.remove_dead();
}

}  // namespace headrace
