// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_portable.hpp"

#include <algorithm>

#include "passes/fold_constants.hpp"

namespace headrace {

bool is_byte_weights(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || !is_const(graph, node.inputs[0])) return false;
  if (node.type == "FakeQuantize") return true;
  const ElementType type = graph.info(node.inputs[0]).type;
  const bool is_byte = type == ElementType::i8 || type == ElementType::u8;
  return node.type == "Convert" && is_byte && is_floating(graph.info({node.id, 0}).type);
}

bool is_quantized(const Graph& graph) {
  const auto nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    return graph.at(id).type == "FakeQuantize" || is_byte_weights(graph, graph.at(id));
  });
}

void fold_portable(Graph& graph) {
  fold_constants_where(graph, [](const Graph& g, const Node& node) { return !is_byte_weights(g, node); });
}

}  // namespace headrace
