// SPDX-License-Identifier: Apache-2.0
#include "passes/name_outputs.hpp"

namespace headrace {

void name_outputs(Graph& graph) {
  for (const NodeId id : graph.results()) {
    const PortRef source = graph.at(id).inputs.at(0);
    const std::string name = output_name(graph, id);
    auto& names = graph.at(source.node).outputs.at(static_cast<std::size_t>(source.port)).names;
    if (names.empty()) names.push_back(name);
  }
}

}  // namespace headrace
