// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_scale.hpp"

#include <algorithm>
#include <cmath>

#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

bool is_safe(const std::vector<double>& factors) {
  return std::all_of(factors.begin(), factors.end(),
                     [](double f) { return std::isfinite(f) && std::isfinite(1.0 / f); });
}

void replace_weights(Rewriter& rewriter, NodeId id, Tensor weights) {
  const PortRef old = rewriter.graph().at(id).inputs.at(1);
  const std::string name = rewriter.graph().at(old).name;
  rewriter.set_input(id, 1, rewriter.add_const(name, std::move(weights)));
}

struct Factors {
  PortRef data;
  std::vector<double> values;
};

// The node as "data times one factor per channel along axis", or nothing.
std::optional<Factors> factors_of(const Graph& graph, const Node& node, std::int64_t axis) {
  if (!is_numpy_binary(node, "Multiply")) return std::nullopt;
  const auto operand = const_operand(graph, node);
  if (!operand) return std::nullopt;
  const auto values = channel_values(*const_f32(graph, operand->constant), node.outputs.at(0).shape, axis);
  if (!values || !std::all_of(values->begin(), values->end(), [](double f) { return std::isfinite(f); })) {
    return std::nullopt;
  }
  return Factors{operand->data, *values};
}

// op(x, w) * c is op(x, w * c).
void fold_into_producer(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  if (!is_numpy_binary(graph.at(id), "Multiply")) return;
  const auto operand = const_operand(graph, graph.at(id));
  if (!operand) return;
  const Node& producer = graph.at(operand->data);
  if (!is_weighted(graph, producer) || !producer.epilogue.is_empty()) return;
  if (!rewriter.only_user(operand->data)) return;
  const auto factors = factors_of(graph, graph.at(id), bias_axis_of(producer));
  if (!factors) return;
  auto weights = scale_output_channels(graph, producer, factors->values);
  if (!weights) return;
  replace_weights(rewriter, operand->data.node, std::move(*weights));
  rewriter.take_over({id, 0}, operand->data);
}

// conv(x * c, w) is conv(x, w * c): zero padding stays zero.
bool fold_product_into_reader(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const PortRef source = graph.at(id).inputs.at(0);
  if (!rewriter.only_user(source)) return false;
  const auto factors = factors_of(graph, graph.at(source), 1);
  if (!factors) return false;
  auto weights = scale_input_channels(graph, graph.at(id), factors->values);
  if (!weights) return false;
  const std::string name = graph.at(source).name;
  replace_weights(rewriter, id, std::move(*weights));
  rewriter.set_input(id, 0, factors->data);
  rewriter.at(id).fused_names.push_back(name);
  return true;
}

// conv(x * c + d, w) is conv(x + d / c, w * c): one node less.
void fold_through_add(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const PortRef source = graph.at(id).inputs.at(0);
  if (!is_numpy_binary(graph.at(source), "Add") || !rewriter.only_user(source)) return;
  const auto sum = const_operand(graph, graph.at(source));
  if (!sum || !rewriter.only_user(sum->data)) return;
  const auto factors = factors_of(graph, graph.at(sum->data), 1);
  const auto shift = channel_values(*const_f32(graph, sum->constant), graph.info(source).shape, 1);
  if (!factors || !shift || !is_safe(factors->values)) return;
  auto weights = scale_input_channels(graph, graph.at(id), factors->values);
  if (!weights) return;
  std::vector<double> moved = *shift;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] /= factors->values[i];
  Shape shape(graph.info(source).shape.size(), 1);
  shape.at(1) = static_cast<std::int64_t>(moved.size());
  const std::string add_name = graph.at(source).name;
  const std::string multiply_name = graph.at(sum->data).name;
  replace_weights(rewriter, id, std::move(*weights));
  const PortRef d = rewriter.add_const(add_name + "/shift", make_f32(shape, moved));
  rewriter.set_input(id, 0, add_op(rewriter, "Add", add_name, {factors->data, d}));
  rewriter.at(id).fused_names.push_back(multiply_name);
}

}  // namespace

void fold_scale(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (!rewriter.is_removed(id)) fold_into_producer(rewriter, id);
  }
  for (const NodeId id : order) {
    if (rewriter.is_removed(id) || !is_convolution(graph.at(id))) continue;
    if (!fold_product_into_reader(rewriter, id)) fold_through_add(rewriter, id);
  }
  graph.remove_dead();
}

}  // namespace headrace
