// SPDX-License-Identifier: Apache-2.0
#include "passes/eliminate_common_subexpressions.hpp"

#include <bit>
#include <map>

#include "passes/rewriter.hpp"

namespace headrace {
namespace {

// Larger constants are compared by address: weights are rarely equal, and comparing them all costs start-up time.
constexpr std::size_t kMaxComparedBytes = 4096;

std::string const_key(const Tensor& value) {
  std::string key = "Const|" + std::string(to_string(value.type())) + to_string(value.shape()) + "|";
  if (value.size_bytes() > kMaxComparedBytes) {
    return key + "@" + std::to_string(reinterpret_cast<std::uintptr_t>(value.data()));
  }
  if (value.size_bytes() != 0) key.append(reinterpret_cast<const char*>(value.data()), value.size_bytes());
  return key;
}

// Equal keys, equal results.
std::string key_of(const Node& node) {
  if (node.type == "Const") return const_key(node.value);
  std::string key = node.type + "|" + std::to_string(node.opset) + "|" + std::to_string(node.outputs.size());
  for (const auto& [name, value] : node.attributes.values()) key += "|" + name + "=" + to_string(value);
  for (const PortRef& input : node.inputs) {
    key += "|%" + std::to_string(input.node.value) + ":" + std::to_string(input.port);
  }
  const Epilogue& epilogue = node.epilogue;
  key += "|" + std::to_string(epilogue.bias_input) + "," + std::to_string(epilogue.residual_input) + "," +
         std::string(to_string(epilogue.activation));
  key += "," + std::to_string(std::bit_cast<std::uint32_t>(epilogue.alpha)) + "," +
         std::to_string(std::bit_cast<std::uint32_t>(epilogue.beta));
  return key;
}

}  // namespace

void eliminate_common_subexpressions(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  std::map<std::string, NodeId> first_of;
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    if (node.type == "Parameter" || node.type == "Result" || !node.bodies.empty()) continue;
    const auto [entry, is_new] = first_of.try_emplace(key_of(node), id);
    if (is_new) continue;
    const std::size_t count = node.outputs.size();
    for (std::size_t port = 0; port < count; ++port) {
      const PortRef from{id, static_cast<std::int32_t>(port)};
      if (!rewriter.users(from).empty()) rewriter.bypass(from, {entry->second, from.port});
    }
  }
  graph.remove_dead();
}

}  // namespace headrace
