// SPDX-License-Identifier: Apache-2.0
// What stands inside a node: functions and bodies, written out in place or read as graphs of their own.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/onnx/onnx_reader_impl.hpp"

namespace headrace::detail {
namespace {

void check_input_count(const OnnxGraph& body, std::size_t count) {
  if (count <= body.inputs.size()) return;
  fail(ErrorCode::kBadModel,
       "its body has " + std::to_string(body.inputs.size()) + " inputs, expected " + std::to_string(count));
}

// The dimensions that do not depend on the trial.
PartialShape known_shape(const KnownTensor& known) {
  PartialShape shape;
  const auto& [first, second] = known.trials;
  shape.is_rank_known = first.shape && second.shape && first.shape->size() == second.shape->size();
  if (!shape.is_rank_known) return shape;
  for (std::size_t i = 0; i < first.shape->size(); ++i) {
    const std::int64_t size = (*first.shape)[i];
    shape.dims.push_back(size == (*second.shape)[i] ? Dimension{size, size} : Dimension{});
  }
  return shape;
}

}  // namespace

std::vector<OnnxValue> OnnxReader::call_function(const OnnxFunction& function, const OnnxNode& node, OnnxScope& scope,
                                                 const std::vector<std::optional<PortRef>>& inputs) {
  if (depth_ >= kMaxCallDepth) {
    fail(ErrorCode::kBadModel, "functions call each other deeper than " + std::to_string(kMaxCallDepth));
  }
  OnnxScope body;
  body.frame = frame_;
  body.prefix = node_path_ + "/";
  body.opsets = function.opsets.empty() ? scope.opsets : opset_map(function.opsets);
  body.arguments = &node.attributes;
  body.defaults = &function.defaults;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    if (function.inputs[i].empty()) continue;
    // An input that the call leaves out stays unbound: nodes read it as an optional input.
    if (i < inputs.size() && inputs[i]) body.values[function.inputs[i]] = inputs[i];
  }
  std::vector<OnnxNode> nodes = function.nodes;
  for (OnnxNode& inner : nodes) {
    for (std::string_view& name : inner.inputs) {
      const auto place = std::find(function.inputs.begin(), function.inputs.end(), name);
      if (place != function.inputs.end() && body.values.count(name) == 0) name = {};
    }
  }
  const Temporarily<int> depth(depth_, depth_ + 1);
  convert_nodes(nodes, function.outputs, body);
  std::vector<OnnxValue> outputs;
  for (const std::string_view name : function.outputs) {
    outputs.push_back(look_up(name, body));
    if (!outputs.back()) fail(ErrorCode::kUnsupported, kRefusedInside);
  }
  return outputs;
}

// The scope of a body of the node that is converted now.
OnnxScope OnnxReader::body_scope() {
  if (depth_ >= kMaxCallDepth) {
    fail(ErrorCode::kBadModel, "bodies are nested deeper than " + std::to_string(kMaxCallDepth));
  }
  OnnxScope scope;
  scope.parent = scope_;
  scope.frame = frame_;
  scope.prefix = node_path_ + "/";
  scope.opsets = scope_->opsets;
  scope.arguments = scope_->arguments;
  scope.defaults = scope_->defaults;
  return scope;
}

std::vector<PortRef> OnnxReader::body_outputs(const OnnxGraph& body, OnnxScope& scope) {
  const Temporarily<int> depth(depth_, depth_ + 1);
  convert_nodes(body.nodes, output_names(body), scope);
  builder().begin_node(node_path_, node_type_);  // what the converter emits from here on is the node's again
  std::vector<PortRef> outputs;
  for (const OnnxValueInfo& info : body.outputs) {
    const OnnxValue value = look_up(info.name, scope);
    if (!value) fail(ErrorCode::kUnsupported, kRefusedInside);
    outputs.push_back(*value);
  }
  return outputs;
}

std::vector<PortRef> OnnxReader::inline_graph(const OnnxGraph& body, const std::vector<PortRef>& inputs) {
  check_input_count(body, inputs.size());
  OnnxScope scope = body_scope();
  declare(body, scope);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    scope.initializers.erase(body.inputs[i].name);
    scope.values[body.inputs[i].name] = inputs[i];
  }
  return body_outputs(body, scope);
}

// Constants are copied into the body, anything else becomes one of its Parameters.
PortRef OnnxReader::capture(PortRef outer, OnnxScope& scope) {
  OnnxFrame& frame = *scope.frame;
  if (const auto known = frame.captures.find(outer); known != frame.captures.end()) return known->second;
  OnnxFrame& around = *scope.parent->frame;
  const Node& source = around.graph->at(outer.node);
  const KnownTensor& known = around.builder->known(outer);
  if (!known.type) fail(ErrorCode::kUnsupported, "reads a tensor of unknown element type from around its body");
  PortRef inner;
  if (source.type == "Const") {
    inner = frame.builder->add_constant(source.value);
  } else {
    inner =
        frame.builder->add_parameter(source.name + ":" + std::to_string(outer.port), *known.type, known_shape(known));
    frame.builder->copy_knowledge(inner, known);
    frame.captured.push_back(outer);
  }
  frame.captures[outer] = inner;
  return inner;
}

OnnxBody OnnxReader::read_body(const OnnxGraph& body, const std::vector<OnnxBodyInput>& inputs,
                               const OnnxEdit& edit_inputs, const OnnxEdit& edit_outputs) {
  check_input_count(body, inputs.size());
  OnnxBody result;
  result.graph = std::make_shared<Graph>();
  result.graph->name = body.name;
  result.own_parameters = inputs.size();
  ImportBuilder inner(*result.graph, builder());
  OnnxFrame frame{result.graph.get(), &inner, {}, {}};
  OnnxScope scope = body_scope();
  scope.frame = &frame;
  declare(body, scope);
  const Temporarily<OnnxFrame*> inside(frame_, &frame);
  inner.begin_node(node_path_, node_type_);
  std::vector<PortRef> parameters;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters.push_back(inner.add_parameter(body.inputs[i].name, inputs[i].type, inputs[i].shape));
    inner.add_knowledge(parameters.back(), inputs[i].type, inputs[i].shape, {});
  }
  if (edit_inputs) parameters = edit_inputs(parameters);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    scope.initializers.erase(body.inputs[i].name);
    scope.values[body.inputs[i].name] = parameters[i];
  }
  std::vector<PortRef> outputs = body_outputs(body, scope);
  if (edit_outputs) outputs = edit_outputs(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) inner.add_result(body.outputs[i].name, outputs[i]);
  result.graph->remove_dead();
  inner.store_types();
  result.captured = frame.captured;
  return result;
}

}  // namespace headrace::detail
