// SPDX-License-Identifier: Apache-2.0
#include "passes/infer_shapes.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/descriptor.hpp"
#include "ops/strided.hpp"
#include "passes/evaluate.hpp"

namespace headrace {
namespace {

// Shape computations are tiny; anything larger is data, which folding handles.
constexpr std::int64_t kMaxValueElems = 4096;

using KnownValues = std::map<PortRef, Tensor>;

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

const OpDescriptor& op_of(const Node& node) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->infer == nullptr) {
    std::string hint;
    for (const std::string& type : nearest_types(node.type)) hint += (hint.empty() ? "; similar: " : ", ") + type;
    fail(ErrorCode::kUnsupported, "unknown operator" + hint);
  }
  return *op;
}

void set_outputs(Node& node, const std::vector<InferOutput>& inferred) {
  if (node.outputs.size() > inferred.size()) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(node.outputs.size()) + " outputs, the operator gives " +
                                   std::to_string(inferred.size()));
  }
  node.outputs.resize(inferred.size());
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    node.outputs[i].type = inferred[i].type;
    node.outputs[i].shape = inferred[i].shape;
    node.outputs[i].is_resolved = true;
  }
}

// Evaluates the node where all that it reads is known and all that it writes is small.
void follow_values(const Graph& graph, const Node& node, KnownValues& values) {
  for (const OutputInfo& output : node.outputs) {
    if (count_elems(output.shape) > kMaxValueElems) return;
  }
  if (!is_evaluable(graph, node)) return;
  std::vector<Tensor> inputs;
  for (const PortRef& input : node.inputs) {
    const auto known = values.find(input);
    if (known != values.end()) {
      inputs.push_back(known->second);
    } else if (reads_only_shape(node)) {
      inputs.push_back(shape_only_tensor(graph.info(input)));
    } else {
      return;
    }
  }
  const std::vector<Tensor> outputs = evaluate(node, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) values[{node.id, static_cast<std::int32_t>(i)}] = outputs[i];
}

void infer_node(Graph& graph, NodeId id, KnownValues& values) {
  Node& node = graph.at(id);
  const OpDescriptor& op = op_of(node);
  std::vector<InferInput> inputs;
  for (const PortRef& input : node.inputs) {
    const OutputInfo& info = graph.info(input);
    const auto known = values.find(input);
    inputs.push_back({info.type, info.shape, known == values.end() ? nullptr : &known->second});
  }
  inputs.resize(count_op_inputs(node));
  set_outputs(node, op.infer(node, inputs));
  follow_values(graph, node, values);
}

void infer_constant(Node& node, KnownValues& values) {
  node.outputs.at(0).type = node.value.type();
  node.outputs.at(0).shape = node.value.shape();
  node.outputs.at(0).is_resolved = true;
  values[{node.id, 0}] = node.value.aligned_copy();
}

// Returns whether the node's outputs are resolved then.
bool infer_if_known(Graph& graph, NodeId id, KnownValues& values) {
  Node& node = graph.at(id);
  if (node.type == "Result") {
    node.outputs.clear();
    return true;
  }
  if (node.type == "Parameter") {
    if (node.declared_shape.is_static()) resolve_parameter(graph, id, {});
    return node.declared_shape.is_static();
  }
  if (node.type == "Const") {
    infer_constant(node, values);
    return true;
  }
  const bool has_open_input = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](const PortRef& input) { return !graph.info(input).is_resolved; });
  if (!has_open_input) {
    try {
      infer_node(graph, id, values);
      return true;
    } catch (const Error& error) {
      // A shape that hangs on values (of NonZero, or since another input's shape is open) is known at run time only.
      const OpDescriptor* op = find_op(node.type);
      const bool is_known_operator = op != nullptr && op->infer != nullptr;
      if (error.code() != ErrorCode::kUnsupported || !is_known_operator) {
        rethrow_with_prefix(error, "layer '" + node.name + "' (" + node.source_type + ")");
      }
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
    } else if (node.type == "Const") {
      infer_constant(node, values);
    } else if (node.type == "Result") {
      node.outputs.clear();
    } else {
      try {
        infer_node(graph, id, values);
      } catch (const Error& error) {
        if (std::string_view(error.what()).starts_with("layer '")) throw;
        rethrow_with_prefix(error, "layer '" + node.name + "' (" + node.source_type + ")");
      }
    }
  }
}

}  // namespace headrace
