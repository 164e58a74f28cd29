// SPDX-License-Identifier: Apache-2.0
#include "ops/infer_graph.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/evaluate.hpp"
#include "ops/strided.hpp"
#include "ops/unknown_value.hpp"

namespace headrace {
namespace {

const OpDescriptor& op_of(const Node& node) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->infer == nullptr) {
    std::string hint;
    for (const std::string& type : nearest_types(node.type)) hint += (hint.empty() ? "; similar: " : ", ") + type;
    fail(ErrorCode::kUnsupported, "unknown operator" + hint);
  }
  return *op;
}

[[noreturn]] void rethrow_with_layer(const Error& error, const Node& node) {
  throw Error(error.code(), message_with_layer(error, node), error.file(), error.line());
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

void infer_operator(Graph& graph, NodeId id, KnownValues& values) {
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

std::vector<Tensor> computed(const Node& node, std::span<const Tensor> inputs) {
  const OpDescriptor& op = op_of(node);
  std::vector<InferInput> known;
  for (const Tensor& input : inputs.first(count_op_inputs(node))) {
    known.push_back({input.type(), input.shape(), &input});
  }
  std::vector<Tensor> outputs;
  for (const InferOutput& output : op.infer(node, known)) outputs.emplace_back(output.type, output.shape);
  run_reference(node, inputs, outputs);
  return outputs;
}

std::vector<Tensor> computed_with_layer(const Node& node, std::span<const Tensor> inputs) {
  try {
    return computed(node, inputs);
  } catch (const Error& error) {
    rethrow_with_layer(error, node);
  }
}

Tensor convert_where_needed(const Tensor& tensor, ElementType type) {
  return tensor.type() == type ? tensor : convert(tensor, type);
}

// Runs one graph; drops each tensor behind its last reader.
class GraphRun {
 public:
  explicit GraphRun(const Graph& graph) : graph_(graph), users_(graph) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs) {
    HEADRACE_ASSERT(inputs.size() == graph_.parameters().size(), "one input per Parameter");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Node& parameter = graph_.at(graph_.parameters()[i]);
      check_parameter(parameter, inputs[i].type(), inputs[i].shape());
      keep({parameter.id, 0}, inputs[i]);
    }
    for (const NodeId id : graph_.topological_order()) run_node(graph_.at(id));
    std::vector<Tensor> results;
    for (const NodeId id : graph_.results()) results.push_back(values_.at(graph_.at(id).inputs.at(0)));
    return results;
  }

 private:
  void keep(PortRef ref, Tensor value) {
    if (users_.of(ref).empty()) return;
    unread_[ref] = users_.of(ref).size();
    values_[ref] = std::move(value);
  }

  void run_node(const Node& node) {
    if (node.type == "Parameter" || node.type == "Result") return;  // a Result keeps its tensor to the end
    if (node.type == "Const") return keep({node.id, 0}, node.value.aligned_copy());
    std::vector<Tensor> inputs;
    for (const PortRef& input : node.inputs) inputs.push_back(values_.at(input));
    const std::vector<Tensor> outputs = computed_with_layer(node, inputs);
    for (std::size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i) {
      keep({node.id, static_cast<std::int32_t>(i)}, outputs[i]);
    }
    for (const PortRef& input : node.inputs) {
      if (--unread_.at(input) == 0) values_.erase(input);
    }
  }

  const Graph& graph_;
  UserMap users_;
  std::map<PortRef, Tensor> values_;
  std::map<PortRef, std::size_t> unread_;
};

}  // namespace

void infer_node(Graph& graph, NodeId id, KnownValues& values) {
  Node& node = graph.at(id);
  if (node.type == "Const") {
    node.outputs.at(0).type = node.value.type();
    node.outputs.at(0).shape = node.value.shape();
    node.outputs.at(0).is_resolved = true;
    values[{id, 0}] = node.value.aligned_copy();
  } else if (node.type == "Result") {
    node.outputs.clear();
  } else {
    try {
      infer_operator(graph, id, values);
    } catch (const UnknownValue& error) {
      throw UnknownValue(error, node);
    } catch (const Error& error) {
      rethrow_with_layer(error, node);
    }
  }
}

InferInput InferredBody::result(std::size_t number) const {
  const PortRef source = graph.at(graph.results().at(number)).inputs.at(0);
  const OutputInfo& info = graph.info(source);
  const auto known = values.find(source);
  return {info.type, info.shape, known == values.end() ? nullptr : &known->second};
}

void check_parameter(const Node& parameter, ElementType type, const Shape& shape) {
  const ElementType declared = parameter.outputs.at(0).type;
  if (type == declared && parameter.declared_shape.accepts(shape)) return;
  fail(ErrorCode::kBadModel, "the body's input '" + parameter.name + "' is declared " +
                                 std::string(to_string(declared)) + to_string(parameter.declared_shape) + ", gets " +
                                 std::string(to_string(type)) + to_string(shape));
}

InferredBody infer_body(const Graph& graph, std::span<const InferInput> parameters) {
  InferredBody body{graph, {}};
  HEADRACE_ASSERT(parameters.size() == graph.parameters().size(), "one input per Parameter");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Node& node = body.graph.at(graph.parameters()[i]);
    check_parameter(node, parameters[i].type, parameters[i].shape);
    node.outputs.at(0).shape = parameters[i].shape;
    node.outputs.at(0).is_resolved = true;
    if (parameters[i].value != nullptr) body.values[{node.id, 0}] = *parameters[i].value;
  }
  for (const NodeId id : body.graph.topological_order()) {
    if (body.graph.at(id).type != "Parameter") infer_node(body.graph, id, body.values);
  }
  return body;
}

std::vector<Tensor> run_layer(const Node& node, std::span<const Tensor> inputs) {
  const OpDescriptor& op = op_of(node);
  std::vector<Tensor> wide;
  std::vector<InferInput> known;
  for (const Tensor& input : inputs) wide.push_back(convert_where_needed(input, computed_type(input.type())));
  std::vector<Tensor> outputs = computed_with_layer(node, wide);
  for (std::size_t i = 0; i < inputs.size() && i < count_op_inputs(node); ++i) {
    known.push_back({inputs[i].type(), inputs[i].shape(), &wide[i]});
  }
  const std::vector<InferOutput> wanted = op.infer(node, known);
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = convert_where_needed(outputs[i], wanted[i].type);
  return outputs;
}

std::vector<Tensor> run_graph(const Graph& graph, std::span<const Tensor> inputs) {
  return GraphRun(graph).run(inputs);
}

}  // namespace headrace
