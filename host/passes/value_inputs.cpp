// SPDX-License-Identifier: Apache-2.0
#include "passes/value_inputs.hpp"

#include <algorithm>
#include <set>

#include "ops/evaluate.hpp"

namespace headrace {
namespace {

// Adds the inputs behind one tensor, unless data is among them.
void add_inputs_behind(const Graph& graph, PortRef source, std::set<std::size_t>& positions) {
  std::set<NodeId> seen;
  std::vector<NodeId> stack = {source.node};
  std::vector<std::size_t> found;
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (!graph.contains(id) || !seen.insert(id).second || reads_only_shape(graph.at(id))) continue;
    const Node& node = graph.at(id);
    if (node.type == "Parameter") {
      const OutputInfo& info = node.outputs.at(0);
      if (!info.is_resolved || count_elems(info.shape) > kMaxShapeInputElems) return;
      const auto& parameters = graph.parameters();
      found.push_back(
          static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), id) - parameters.begin()));
    }
    for (const PortRef& input : node.inputs) stack.push_back(input.node);
  }
  positions.insert(found.begin(), found.end());
}

}  // namespace

std::vector<std::size_t> inputs_behind(const Graph& graph, const std::vector<PortRef>& sources) {
  std::set<std::size_t> positions;
  for (const PortRef& source : sources) add_inputs_behind(graph, source, positions);
  return {positions.begin(), positions.end()};
}

void bind_input(Graph& graph, std::size_t position, const Tensor& value) {
  const NodeId parameter = graph.parameters().at(position);
  const NodeId constant = graph.add_const(graph.at(parameter).name + "/value", value.clone());
  for (const Graph::User& user : graph.users({parameter, 0})) {
    if (graph.at(user.node).type == "Result") continue;
    graph.set_input(user.node, static_cast<std::size_t>(user.input), {constant, 0});
  }
}

}  // namespace headrace
