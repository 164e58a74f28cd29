// SPDX-License-Identifier: Apache-2.0
#include "passes/reverse_channels.hpp"

#include "passes/input_channels.hpp"

namespace headrace {
namespace {

constexpr std::string_view kOption = "--reverse-input-channels";
constexpr std::int64_t kChannels = 3;

std::vector<NodeId> wanted_inputs(const Graph& graph, const std::string& input) {
  if (!input.empty()) return {find_parameter(graph, input, kOption)};
  std::vector<NodeId> found;
  for (const NodeId id : graph.parameters()) {
    if (find_channel_axis(graph.at(id), kChannels)) found.push_back(id);
  }
  // Of a single input the message tells why it does not fit.
  if (found.empty()) found.push_back(find_parameter(graph, "", kOption));
  return found;
}

}  // namespace

std::vector<std::string> reverse_channels(Graph& graph, const std::string& input) {
  Rewriter rewriter(graph);
  std::vector<std::string> changed;
  for (const NodeId id : wanted_inputs(graph, input)) {
    const auto axis = static_cast<std::int64_t>(channel_axis(graph, id, kChannels, kOption));
    const std::vector<Graph::User> readers = rewriter.users({id, 0});
    const std::string name = new_name(graph, id, "reverse_channels");
    const std::int64_t order[] = {2, 1, 0};
    const PortRef indices = rewriter.add_const(name + "/order", make_i64_tensor({kChannels}, order));
    const PortRef along = rewriter.add_const(name + "/axis", make_i64_tensor({}, {&axis, 1}));
    const ElementType type = graph.info({id, 0}).type;
    const PortRef last = add_unresolved_op(rewriter, "Gather", name, {{id, 0}, indices, along}, type, 8);
    insert_behind(rewriter, id, readers, last);
    changed.push_back(input_name(graph, id));
  }
  return changed;
}

}  // namespace headrace
