// SPDX-License-Identifier: Apache-2.0
#include "passes/prepare_bodies.hpp"

#include <algorithm>

#include "ops/evaluate.hpp"
#include "ops/infer_graph.hpp"
#include "passes/convert_precision.hpp"
#include "passes/rewriter.hpp"

namespace headrace {
namespace {

void widen(Graph& body) {
  for (const NodeId id : body.nodes()) {
    Node& node = body.at(id);
    if (node.type == "Const" && !is_computed_type(node.value.type())) {
      node.value = convert(node.value, computed_type(node.value.type()));
    }
    for (OutputInfo& output : node.outputs) {
      output.type = computed_type(output.type);
    }
    widen_attributes(node);
  }
}

// Turns nodes that read constants alone into constants.
void fold(Graph& body) {
  KnownValues values;
  const auto order = body.topological_order();
  Rewriter rewriter(body);
  for (const NodeId id : order) {
    if (rewriter.is_removed(id)) continue;
    const Node& node = body.at(id);
    if (node.type == "Parameter" || node.type == "Result") continue;
    const bool is_known = node.bodies.empty() && std::all_of(node.inputs.begin(), node.inputs.end(),
                                                             [&](PortRef input) { return values.count(input) != 0; });
    if (!is_known || (node.inputs.empty() && node.type != "Const")) continue;
    infer_node(body, id, values);
    if (node.type == "Const" || !is_evaluable(body, node)) continue;
    std::vector<Tensor> inputs;
    for (const PortRef& input : node.inputs) inputs.push_back(values.at(input));
    const std::vector<Tensor> results = evaluate(body.at(id), inputs);
    const std::string name = node.name;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const PortRef from{id, static_cast<std::int32_t>(i)};
      if (rewriter.users(from).empty()) continue;
      const PortRef to = rewriter.add_const(name + "." + std::to_string(i), results[i]);
      values[to] = results[i];
      rewriter.replace(from, to);
    }
  }
  body.remove_dead();
}

}  // namespace

void prepare_bodies(Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    for (Body& body : graph.at(id).bodies) {
      auto prepared = std::make_shared<Graph>(*body.graph);
      widen(*prepared);
      fold(*prepared);
      prepare_bodies(*prepared);
      body.graph = std::move(prepared);
    }
  }
}

}  // namespace headrace
