// SPDX-License-Identifier: Apache-2.0
#include "unit/ops/reference_runner.hpp"

#include <numeric>

namespace headrace::test {

Node make_node(const std::string& type, const RawAttributes& raw, std::size_t inputs, std::int32_t opset) {
  const OpDescriptor* op = find_op(type);
  HEADRACE_ASSERT(op != nullptr, "the operator is not in the table");
  Node node;
  node.name = "layer";
  node.type = type;
  node.source_type = type;
  node.opset = opset;
  node.attributes = op->parse(type, opset, raw);
  node.inputs.resize(inputs);
  return node;
}

std::vector<InferOutput> infer_known(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<InferInput> known;
  for (const Tensor& input : inputs) known.push_back({input.type(), input.shape(), &input});
  return find_op(node.type)->infer(node, known);
}

std::vector<Tensor> run_op(const std::string& type, const RawAttributes& raw, const std::vector<Tensor>& inputs,
                           std::int32_t opset) {
  Node node = make_node(type, raw, inputs.size(), opset);
  std::vector<Tensor> outputs;
  for (const InferOutput& output : infer_known(node, inputs)) {
    outputs.emplace_back(output.type, output.shape);
    node.outputs.push_back({output.type, output.shape, true, {}});
  }
  find_op(type)->reference(node, inputs, outputs);
  return outputs;
}

std::string error_of(const std::string& type, const RawAttributes& raw, const std::vector<Tensor>& inputs,
                     std::int32_t opset) {
  try {
    run_op(type, raw, inputs, opset);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

Tensor counting(const Shape& shape, float first) {
  std::vector<float> values(static_cast<std::size_t>(count_elems(shape)));
  std::iota(values.begin(), values.end(), first);
  return make_f32_tensor(shape, values);
}

Tensor ints(const std::vector<std::int64_t>& values) {
  return make_i64_tensor({static_cast<std::int64_t>(values.size())}, values);
}

Tensor int_scalar(std::int64_t value) { return make_i64_tensor({}, std::span(&value, 1)); }

}  // namespace headrace::test
