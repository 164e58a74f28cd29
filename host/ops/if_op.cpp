// SPDX-License-Identifier: Apache-2.0
// If: one of two bodies, by a condition. Input 0 is the condition.
#include <algorithm>

#include "ops/checks.hpp"
#include "ops/infer_graph.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"
#include "ops/unknown_value.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"If"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes&) { return {}; }

const Body& branch_of(const Node& node, const Tensor& condition) {
  return node.bodies.at(to_doubles(condition).at(0) != 0 ? 0 : 1);
}

std::vector<InferOutput> infer_branch(const Node& node, const Body& body, std::span<const InferInput> inputs) {
  std::vector<InferInput> parameters(body.graph->parameters().size());
  for (const BodyInput& input : body.inputs) parameters.at(input.parameter) = inputs[input.input];
  const InferredBody inferred = infer_body(*body.graph, parameters);
  std::vector<InferOutput> outputs(body.outputs.size());
  for (const BodyOutput& output : body.outputs) {
    if (output.output >= outputs.size()) fail_node(node, "has an output that a branch does not give");
    const InferInput result = inferred.result(output.result);
    outputs[output.output] = {result.type, result.shape};
  }
  return outputs;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  constexpr std::size_t kMaxInputs = 4096;
  check_input_count(node, inputs.size(), 1, kMaxInputs);
  if (node.bodies.size() != 2) fail_node(node, "needs two bodies, has " + std::to_string(node.bodies.size()));
  if (count_elems(inputs[0].shape) != 1) {
    fail_node(node, "needs one value as its condition, has the shape " + to_string(inputs[0].shape));
  }
  if (inputs[0].value != nullptr) return infer_branch(node, branch_of(node, *inputs[0].value), inputs);
  std::vector<InferOutput> outputs, others;
  try {
    outputs = infer_branch(node, node.bodies[0], inputs);
    others = infer_branch(node, node.bodies[1], inputs);
  } catch (const Error& error) {
    // The branch that is not taken need not fit the inputs.
    throw UnknownValue(
        0, "output shape depends on the condition, which is not known before the run: " + std::string(error.what()));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i >= others.size() || outputs[i].type != others[i].type) fail_node(node, "has branches of different outputs");
    if (outputs[i].shape != others[i].shape) {
      throw UnknownValue(0, "output shape depends on the condition, which is not known before the run: " +
                                to_string(outputs[i].shape) + " or " + to_string(others[i].shape));
    }
  }
  return outputs;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Body& body = branch_of(node, inputs[0]);
  std::vector<Tensor> parameters(body.graph->parameters().size());
  for (const BodyInput& input : body.inputs) parameters.at(input.parameter) = inputs[input.input];
  const std::vector<Tensor> results = run_graph(*body.graph, parameters);
  for (const BodyOutput& output : body.outputs) {
    if (output.output >= outputs.size()) continue;
    const Tensor& result = results.at(output.result);
    check_shape(node, result.shape(), outputs[output.output].shape(), "results");
    std::copy_n(result.data(), result.size_bytes(), outputs[output.output].mutable_data());
  }
}

}  // namespace

const OpDescriptor& if_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
