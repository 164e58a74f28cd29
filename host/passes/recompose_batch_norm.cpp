// SPDX-License-Identifier: Apache-2.0
#include "passes/recompose_batch_norm.hpp"

#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"
#include "passes/rewriter.hpp"

namespace headrace {
namespace {

// The f32 constant of a binary node as one value per channel.
std::optional<std::vector<double>> channel_constant(const Graph& graph, const Node& node, PortRef constant) {
  const Shape& shape = node.outputs.at(0).shape;
  if (shape.size() < 2) return std::nullopt;
  return channel_values(*const_f32(graph, constant), shape, 1);
}

void recompose(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& add = graph.at(id);
  if (!is_numpy_binary(add, "Add") || !add.epilogue.is_empty()) return;
  const auto term = const_operand(graph, add);
  if (!term || !rewriter.only_user(term->data)) return;
  const Node& multiply = graph.at(term->data);
  if (!is_numpy_binary(multiply, "Multiply") || !multiply.epilogue.is_empty()) return;
  const auto factor = const_operand(graph, multiply);
  if (!factor) return;
  const auto factors = channel_constant(graph, multiply, factor->constant);
  const auto terms = channel_constant(graph, add, term->constant);
  if (!factors || !terms) return;

  const auto channels = static_cast<std::int64_t>(factors->size());
  const std::string name = add.name;
  const PortRef data = factor->data;
  const PortRef product = term->data;
  const auto constant = [&](const char* suffix, const std::vector<double>& values) {
    return rewriter.add_const(name + suffix, make_f32({channels}, values));
  };
  const PortRef gamma = constant("/gamma", *factors);
  const PortRef beta = constant("/beta", *terms);
  const PortRef mean = constant("/mean", std::vector<double>(factors->size(), 0));
  const PortRef variance = constant("/variance", std::vector<double>(factors->size(), 1));
  const PortRef made =
      add_op(rewriter, "BatchNormInference", name, {data, gamma, beta, mean, variance}, {{"epsilon", "0"}}, 5);
  rewriter.at(made.node).fused_names = graph.at(product.node).fused_names;
  rewriter.at(made.node).fused_names.push_back(graph.at(product.node).name);
  rewriter.take_over({id, 0}, made);
}

}  // namespace

void recompose_batch_norm(Graph& graph) { rewrite_each(graph, recompose); }

}  // namespace headrace
