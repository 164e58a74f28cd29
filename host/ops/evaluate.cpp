// SPDX-License-Identifier: Apache-2.0
#include "ops/evaluate.hpp"

#include "ops/strided.hpp"

namespace headrace {

bool reads_only_shape(const Node& node) { return node.type == "ShapeOf"; }

Tensor shape_only_tensor(const OutputInfo& info) {
  return Tensor(info.type, info.shape, nullptr, static_cast<const void*>(nullptr));
}

bool is_evaluable(const Graph& graph, const Node& node) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr || op->reference == nullptr) return false;
  if (node.type == "Convert" || reads_only_shape(node)) return true;
  for (const PortRef& input : node.inputs) {
    if (!is_computed_type(graph.info(input).type)) return false;
  }
  for (const OutputInfo& output : node.outputs) {
    if (!is_computed_type(output.type)) return false;
  }
  return true;
}

std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor> inputs) {
  // What convert_precision leaves of decompressed weights: the value is shared.
  if (node.type == "Convert" && inputs[0].type() == node.outputs.at(0).type && node.epilogue.is_empty()) {
    return {inputs[0]};
  }
  std::vector<Tensor> outputs;
  for (const OutputInfo& output : node.outputs) outputs.emplace_back(output.type, output.shape);
  run_reference(node, inputs, outputs);
  return outputs;
}

}  // namespace headrace
