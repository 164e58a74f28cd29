// SPDX-License-Identifier: Apache-2.0
#include "passes/infer_shapes.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/infer_graph.hpp"

namespace headrace {
namespace {

bool answers_to(const Graph& graph, NodeId parameter, const std::string& wanted) {
  const Node& node = graph.at(parameter);
  const auto& names = node.outputs.at(0).names;
  return node.name == wanted || std::find(names.begin(), names.end(), wanted) != names.end();
}

std::string input_list(const Graph& graph) {
  std::string list;
  for (const NodeId id : graph.parameters()) list += (list.empty() ? "'" : ", '") + input_name(graph, id) + "'";
  return list.empty() ? "none" : list;
}

void check_names(const Graph& graph, const std::map<std::string, Shape>& input_shapes) {
  for (const auto& [name, shape] : input_shapes) {
    const auto& parameters = graph.parameters();
    const bool is_known = std::any_of(parameters.begin(), parameters.end(),
                                      [&, &wanted = name](NodeId id) { return answers_to(graph, id, wanted); });
    if (!is_known) {
      fail(ErrorCode::kInvalidArgument, "shape " + to_string(shape) + " is given for input '" + name +
                                            "', which the network does not have; its inputs: " + input_list(graph));
    }
  }
}

void resolve_parameter(Graph& graph, NodeId id, const std::map<std::string, Shape>& input_shapes) {
  Node& node = graph.at(id);
  const std::string name = input_name(graph, id);
  OutputInfo& output = node.outputs.at(0);
  const auto given = std::find_if(input_shapes.begin(), input_shapes.end(),
                                  [&](const auto& entry) { return answers_to(graph, id, entry.first); });
  if (given != input_shapes.end()) {
    if (!node.declared_shape.accepts(given->second)) {
      fail(ErrorCode::kInvalidArgument, "input '" + name + "' is declared " + to_string(node.declared_shape) +
                                            ", which does not accept shape " + to_string(given->second));
    }
    output.shape = given->second;
  } else if (node.declared_shape.is_static()) {
    output.shape = node.declared_shape.to_shape();
  } else {
    fail(ErrorCode::kInvalidArgument, "input '" + name + "' has the dynamic shape " + to_string(node.declared_shape) +
                                          ": give its shape with --input-shape " + name + "[...]");
  }
  output.is_resolved = true;
}

// Returns whether the node's outputs are resolved then.
bool infer_if_known(Graph& graph, NodeId id, KnownValues& values) {
  Node& node = graph.at(id);
  if (node.type == "Parameter") {
    if (node.declared_shape.is_static()) resolve_parameter(graph, id, {});
    return node.declared_shape.is_static();
  }
  const bool has_open_input =
      node.type != "Result" && std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](const PortRef& input) { return !graph.info(input).is_resolved; });
  if (!has_open_input) {
    try {
      infer_node(graph, id, values);
      return true;
    } catch (const Error& error) {
      // A shape that hangs on values (of NonZero, or since another input's shape is open) is known at run time only.
      const OpDescriptor* op = find_op(node.type);
      if (error.code() != ErrorCode::kUnsupported || op == nullptr || op->infer == nullptr) throw;
    }
  }
  for (OutputInfo& output : node.outputs) output.is_resolved = false;
  return false;
}

}  // namespace

bool infer_known_shapes(Graph& graph) {
  KnownValues values;
  bool is_complete = true;
  for (const NodeId id : graph.topological_order()) {
    const bool is_known = infer_if_known(graph, id, values);
    is_complete = is_complete && is_known;
  }
  return is_complete;
}

void infer_shapes(Graph& graph, const std::map<std::string, Shape>& input_shapes) {
  check_names(graph, input_shapes);
  KnownValues values;
  for (const NodeId id : graph.topological_order()) {
    Node& node = graph.at(id);
    if (node.type == "Parameter") {
      resolve_parameter(graph, id, input_shapes);
    } else {
      infer_node(graph, id, values);
    }
  }
}

}  // namespace headrace
