// SPDX-License-Identifier: Apache-2.0
#include "partition/dot.hpp"

#include <array>

namespace headrace {
namespace {

// Light colours that black text stands on, in priority order of the devices; they repeat.
constexpr std::array<std::string_view, 8> kColors = {"palegreen", "lightblue", "khaki",     "lightpink",
                                                     "plum",      "wheat",     "lightcyan", "lightgray"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n' || c == '\r') {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

std::string node_line(const Graph& graph, const Node& node, const Partition& partition) {
  const std::string id = "  n" + std::to_string(node.id.value);
  if (node.type == "Parameter")
    return id + " [shape=ellipse, label=\"" + escaped(input_name(graph, node.id)) + "\"];\n";
  if (node.type == "Result") return id + " [shape=ellipse, label=\"" + escaped(output_name(graph, node.id)) + "\"];\n";
  const Placement& placement = partition.placements.at(node.id);
  std::string label = escaped(node.name) + "\\n" + escaped(node.type);
  for (const std::string& fused : node.fused_names) label += "\\n+ " + escaped(fused);
  label +=
      "\\n" + escaped(partition.device_names.at(placement.device)) + ", subgraph " + std::to_string(placement.subgraph);
  return id + " [shape=box, style=filled, fillcolor=" + std::string(kColors[placement.device % kColors.size()]) +
         ", label=\"" + label + "\"];\n";
}

std::string edge_line(const OutputInfo& info, NodeId from, NodeId to) {
  std::string line = "  n" + std::to_string(from.value) + " -> n" + std::to_string(to.value);
  if (info.is_resolved) {
    line += " [label=\"" + std::string(to_string(info.type)) + to_string(info.shape) + "\"]";
  }
  return line + ";\n";
}

}  // namespace

std::string write_dot(const Graph& graph, const Partition& partition) {
  std::string text = "digraph \"" + escaped(graph.name) + "\" {\n";
  const auto order = graph.topological_order();
  for (const NodeId id : order) {
    if (graph.at(id).type != "Const") text += node_line(graph, graph.at(id), partition);
  }
  for (const NodeId id : order) {
    for (const PortRef& input : graph.at(id).inputs) {
      const bool is_drawn = !is_const(graph, input) || graph.at(id).type == "Result";
      if (is_drawn && is_const(graph, input)) {
        text += "  n" + std::to_string(input.node.value) + " [shape=ellipse, label=\"" + escaped(graph.at(input).name) +
                "\"];\n";
      }
      if (is_drawn) text += edge_line(graph.info(input), input.node, id);
    }
  }
  return text + "}\n";
}

}  // namespace headrace
