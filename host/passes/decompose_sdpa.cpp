// SPDX-License-Identifier: Apache-2.0
#include "passes/decompose_sdpa.hpp"

#include <cmath>
#include <limits>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// 0 where query i may look at key j, minus infinity where j comes after i.
Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  Tensor mask(ElementType::f32, {queries, keys});
  const auto values = mask.mutable_values<float>();
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = i + 1; j < keys; ++j) values[static_cast<std::size_t>(i * keys + j)] = kMinusInfinity;
  }
  return mask;
}

// A boolean mask says which keys count; any other is added.
PortRef additive_mask(Rewriter& rewriter, const std::string& name, PortRef mask) {
  if (rewriter.graph().info(mask).type != ElementType::boolean) return mask;
  const PortRef zero = rewriter.add_const(name + "/zero", make_f32({}, {0.0}));
  const PortRef infinity = rewriter.add_const(name + "/minus_infinity", make_f32({}, {kMinusInfinity}));
  return add_op(rewriter, "Select", name + "/mask", {mask, zero, infinity});
}

PortRef scaled_query(Rewriter& rewriter, const Node& node) {
  const PortRef query = node.inputs.at(0);
  PortRef scale;
  if (node.inputs.size() > 4) {
    scale = node.inputs[4];
  } else {
    const double size = static_cast<double>(rewriter.graph().info(query).shape.back());
    scale = rewriter.add_const(node.name + "/scale", make_f32({}, {1.0 / std::sqrt(size)}));
  }
  return add_op(rewriter, "Multiply", node.name + "/scaled_query", {query, scale});
}

void decompose(Rewriter& rewriter, NodeId id) {
  const Node node = rewriter.graph().at(id);  // a copy: adding nodes moves them
  const Shape& query = rewriter.graph().info(node.inputs.at(0)).shape;
  const Shape& key = rewriter.graph().info(node.inputs.at(1)).shape;
  PortRef scores = add_op(rewriter, "MatMul", node.name + "/scores", {scaled_query(rewriter, node), node.inputs[1]},
                          {{"transpose_b", "true"}});
  if (node.attributes.get_bool("causal")) {
    const Tensor mask = causal_mask(query.at(query.size() - 2), key.at(key.size() - 2));
    scores = add_op(rewriter, "Add", node.name + "/masked", {scores, rewriter.add_const(node.name + "/causal", mask)});
  } else if (node.inputs.size() > 3) {
    const PortRef mask = additive_mask(rewriter, node.name, node.inputs[3]);
    scores = add_op(rewriter, "Add", node.name + "/masked", {scores, mask});
  }
  const PortRef weights = add_op(rewriter, "SoftMax", node.name + "/weights", {scores}, {{"axis", "-1"}}, 8);
  rewriter.take_over({id, 0}, add_op(rewriter, "MatMul", node.name, {weights, node.inputs[2]}));
}

}  // namespace

void decompose_sdpa(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    if (node.type == "ScaledDotProductAttention" && node.outputs.at(0).type == ElementType::f32) {
      decompose(rewriter, id);
    }
  }
  graph.remove_dead();
}

}  // namespace headrace
