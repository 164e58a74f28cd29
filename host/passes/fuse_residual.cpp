// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_residual.hpp"

#include <map>

#include "ops/descriptor.hpp"
#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// Whether the node behind `source` can add `other` before it writes.
bool can_take(const Rewriter& rewriter, PortRef source, PortRef other) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.at(source);
  if (!is_weighted(graph, node) || !rewriter.only_user(source) || is_const(graph, other)) return false;
  if (node.epilogue.residual_input >= 0 || node.epilogue.activation != Activation::kNone) return false;
  Epilogue epilogue = node.epilogue;
  epilogue.residual_input = static_cast<std::int32_t>(node.inputs.size());
  const OpDescriptor* op = find_op(node.type);
  return op != nullptr && op->fuses != nullptr && op->fuses(node, epilogue);
}

void fuse(Rewriter& rewriter, NodeId id, const std::map<NodeId, std::size_t>& position) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.at(id);
  if (!is_numpy_binary(node, "Add") || node.outputs.at(0).type != ElementType::f32) return;
  const PortRef a = node.inputs[0];
  const PortRef b = node.inputs[1];
  if (graph.info(a).shape != graph.info(b).shape) return;
  const bool can_a = can_take(rewriter, a, b);
  const bool can_b = can_take(rewriter, b, a);
  if (!can_a && !can_b) return;
  const bool is_b = can_b && (!can_a || position.at(b.node) > position.at(a.node));
  const PortRef target = is_b ? b : a;
  const std::int32_t index = rewriter.append_input(target.node, is_b ? a : b);
  rewriter.at(target.node).epilogue.residual_input = index;
  rewriter.take_over({id, 0}, target);
}

}  // namespace

void fuse_residual(Graph& graph) {
  const auto order = graph.topological_order();
  std::map<NodeId, std::size_t> position;
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (!rewriter.is_removed(id)) fuse(rewriter, id, position);
  }
  graph.remove_dead();
}

}  // namespace headrace
