// SPDX-License-Identifier: Apache-2.0
#include "passes/decompose_batch_norm.hpp"

#include <array>
#include <cmath>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

struct BatchNormInputs {
  std::size_t data, gamma, beta, mean, variance;
};

// Opset 1 has the data third, opset 5 first.
BatchNormInputs input_places(const Node& node) {
  return node.opset < 5 ? BatchNormInputs{2, 0, 1, 3, 4} : BatchNormInputs{0, 1, 2, 3, 4};
}

void decompose(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().at(id);  // a copy: adding nodes moves them
  const BatchNormInputs at = input_places(node);
  std::array<std::vector<double>, 4> parameters;
  std::size_t next = 0;
  for (const std::size_t index : {at.gamma, at.beta, at.mean, at.variance}) {
    const Tensor* value = const_f32(rewriter.graph(), node.inputs.at(index));
    if (value == nullptr) return;
    parameters[next++] = to_doubles(*value);
  }
  const auto& [gamma, beta, mean, variance] = parameters;
  const double epsilon = node.attributes.get_double("epsilon");
  std::vector<double> scale;
  std::vector<double> shift;
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    scale.push_back(gamma[c] / std::sqrt(variance[c] + epsilon));
    shift.push_back(beta[c] - mean[c] * scale[c]);
  }
  Shape shape(node.outputs.at(0).shape.size(), 1);
  shape.at(1) = static_cast<std::int64_t>(gamma.size());
  const PortRef c = rewriter.add_const(node.name + "/scale", make_f32(shape, scale));
  const PortRef d = rewriter.add_const(node.name + "/shift", make_f32(shape, shift));
  const PortRef product = add_op(rewriter, "Multiply", node.name + "/multiply", {node.inputs[at.data], c});
  rewriter.take_over({id, 0}, add_op(rewriter, "Add", node.name, {product, d}));
}

}  // namespace

void decompose_batch_norm(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (graph.at(id).type == "BatchNormInference") decompose(rewriter, id);
  }
  graph.remove_dead();
}

}  // namespace headrace
