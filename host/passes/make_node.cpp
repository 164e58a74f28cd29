// SPDX-License-Identifier: Apache-2.0
#include "passes/make_node.hpp"

#include "core/error.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

PortRef add_op(Rewriter& rewriter, std::string_view type, const std::string& name, std::vector<PortRef> inputs,
               const RawAttributes& raw, std::int32_t opset) {
  const OpDescriptor* op = find_op(type);
  check(op != nullptr, ErrorCode::kUnsupported, "operator " + std::string(type) + " is not built in");
  Node node;
  node.name = name;
  node.type = type;
  node.opset = opset;
  node.attributes = op->parse(type, opset, raw);
  node.inputs = std::move(inputs);
  std::vector<InferInput> known;
  for (const PortRef& input : node.inputs) {
    const OutputInfo& info = rewriter.graph().info(input);
    const Node& producer = rewriter.graph().at(input);
    known.push_back({info.type, info.shape, producer.type == "Const" ? &producer.value : nullptr});
  }
  for (const InferOutput& output : op->infer(node, known))
    node.outputs.push_back({output.type, output.shape, true, {}});
  return rewriter.add(std::move(node));
}

Tensor make_f32(const Shape& shape, const std::vector<double>& values) {
  std::vector<float> floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return make_f32_tensor(shape, floats);
}

bool is_numpy_binary(const Node& node, std::string_view type) {
  if (node.type != type || node.inputs.size() != 2 || !node.epilogue.is_empty()) return false;
  return !node.attributes.has("auto_broadcast") || node.attributes.get_string("auto_broadcast") != "pdpd";
}

const Tensor* const_f32(const Graph& graph, PortRef ref) {
  const Node& node = graph.at(ref);
  return node.type == "Const" && node.value.type() == ElementType::f32 ? &node.value : nullptr;
}

std::optional<double> const_scalar(const Graph& graph, PortRef ref) {
  const Node& node = graph.at(ref);
  if (node.type != "Const" || node.value.count() != 1 || !is_floating(node.value.type())) return std::nullopt;
  return to_doubles(node.value).front();
}

std::optional<ConstOperand> const_operand(const Graph& graph, const Node& node) {
  const bool first = const_f32(graph, node.inputs.at(0)) != nullptr;
  const bool second = const_f32(graph, node.inputs.at(1)) != nullptr;
  const bool is_ordered = node.type == "Subtract" || node.type == "Divide";
  if (first == second || (first && is_ordered)) return std::nullopt;
  const ConstOperand operand =
      first ? ConstOperand{node.inputs[1], node.inputs[0]} : ConstOperand{node.inputs[0], node.inputs[1]};
  if (graph.info(operand.data).shape != node.outputs.at(0).shape) return std::nullopt;
  return operand;
}

}  // namespace headrace
