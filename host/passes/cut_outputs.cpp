// SPDX-License-Identifier: Apache-2.0
#include "passes/cut_outputs.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxHints = 5;

bool is_computed_or_input(const Node& node) { return node.type != "Const" && node.type != "Result"; }

std::optional<PortRef> find_by_tensor(const Graph& graph, std::string_view name) {
  for (const NodeId id : graph.nodes()) {
    const auto& outputs = graph.at(id).outputs;
    for (std::size_t port = 0; port < outputs.size(); ++port) {
      const auto& names = outputs[port].names;
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        return PortRef{id, static_cast<std::int32_t>(port)};
      }
    }
  }
  return std::nullopt;
}

std::optional<NodeId> find_layer(const Graph& graph, std::string_view name) {
  for (const NodeId id : graph.nodes()) {
    if (graph.at(id).name == name && graph.at(id).type != "Result") return id;
  }
  return std::nullopt;
}

std::optional<PortRef> find_layer_port(const Graph& graph, std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::int32_t port = -1;
  const auto [end, error] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), port);
  const auto layer = find_layer(graph, name.substr(0, colon));
  const bool is_port = error == std::errc() && end == name.data() + name.size() && port >= 0;
  if (!layer || !is_port || static_cast<std::size_t>(port) >= graph.at(*layer).outputs.size()) return std::nullopt;
  return PortRef{*layer, port};
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Layers whose names hold the wanted one, or are held by it.
std::string similar_names(const Graph& graph, std::string_view name) {
  std::string list;
  std::size_t count = 0;
  const std::string wanted = lower(name);
  for (const NodeId id : graph.nodes()) {
    const std::string own = lower(graph.at(id).name);
    const bool is_similar = !own.empty() && (own.find(wanted) != std::string::npos || wanted.find(own) == 0);
    if (!is_computed_or_input(graph.at(id)) || !is_similar || count == kMaxHints) continue;
    list += (count++ == 0 ? "; similar: " : ", ") + quote(graph.at(id).name);
  }
  return list;
}

NodeId add_result(Graph& graph, PortRef source, const std::string& name) {
  OutputInfo& info = graph.at(source.node).outputs.at(static_cast<std::size_t>(source.port));
  if (info.names.empty()) info.names.push_back(name);
  Node result;
  result.name = name + "/result";
  result.type = "Result";
  result.inputs = {source};
  result.attributes.set("output_name", info.names.front());
  return graph.add(std::move(result));
}

}  // namespace

PortRef find_tensor(const Graph& graph, const std::string& name, std::string_view option) {
  if (const auto found = find_by_tensor(graph, name)) return *found;
  if (const auto layer = find_layer(graph, name)) {
    const std::size_t outputs = graph.at(*layer).outputs.size();
    if (outputs == 1) return {*layer, 0};
    fail(ErrorCode::kInvalidArgument, std::string(option) + ": layer " + quote(name) + " has " +
                                          std::to_string(outputs) + " outputs, write " + name + ":0 or another port");
  }
  if (const auto found = find_layer_port(graph, name)) return *found;
  if (const auto found = find_by_tensor(graph, name + ":0")) return *found;
  fail(ErrorCode::kInvalidArgument,
       std::string(option) + ": the model has no tensor or layer " + quote(name) + similar_names(graph, name));
}

void cut_outputs(Graph& graph, const std::vector<std::string>& names) {
  std::map<PortRef, std::string> sources;
  std::vector<PortRef> order;
  for (const std::string& name : names) {
    const PortRef source = find_tensor(graph, name, "--output");
    const auto [entry, is_new] = sources.emplace(source, name);
    if (!is_new) {
      fail(ErrorCode::kInvalidArgument,
           "--output: " + quote(name) + " and " + quote(entry->second) + " are one tensor");
    }
    order.push_back(source);
  }
  const std::vector<NodeId> old = graph.results();
  for (const PortRef& source : order) add_result(graph, source, sources.at(source));
  for (const NodeId id : old) graph.remove(id);
  graph.remove_dead();
}

}  // namespace headrace
