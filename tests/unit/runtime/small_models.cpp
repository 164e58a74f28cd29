// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/small_models.hpp"

#include <algorithm>

#include "ops/descriptor.hpp"

namespace headrace::test {

PortRef NetBuilder::parameter(const std::string& name, std::string_view shape, ElementType type) {
  Node node;
  node.name = name + "_layer";
  node.type = node.source_type = "Parameter";
  node.declared_shape = parse_partial_shape(shape);
  node.outputs = {{type, {}, false, {name}}};
  return {graph_.add(std::move(node)), 0};
}

PortRef NetBuilder::constant(const Tensor& value) {
  return {graph_.add_const("const" + std::to_string(constants_++), value), 0};
}

PortRef NetBuilder::constant(const Shape& shape, std::initializer_list<float> values) {
  return constant(make_f32_tensor(shape, std::vector<float>(values)));
}

PortRef NetBuilder::layer(std::string_view type, const std::string& name, std::vector<PortRef> inputs,
                          const RawAttributes& raw, std::int32_t opset) {
  const OpDescriptor* op = find_op(type);
  HEADRACE_ASSERT(op != nullptr, "test uses an operator that is not there");
  Node node;
  node.name = name;
  node.type = node.source_type = std::string(type);
  node.opset = opset;
  node.attributes = op->parse(type, opset, raw);
  node.inputs = std::move(inputs);
  node.outputs = {{ElementType::f32, {}, false, {name}}};
  return {graph_.add(std::move(node)), 0};
}

void NetBuilder::result(PortRef source) {
  Node node;
  node.name = graph_.at(source).name + "/result" + std::to_string(graph_.results().size());
  node.type = node.source_type = "Result";
  node.inputs = {source};
  graph_.add(std::move(node));
}

Model NetBuilder::finish() {
  auto impl = std::make_shared<Model::Impl>();
  impl->inputs.resize(graph_.parameters().size());
  impl->outputs.resize(graph_.results().size());
  impl->graph = std::make_shared<const Graph>(std::move(graph_));
  return Model(std::move(impl));
}

Model affine_model() {
  NetBuilder net;
  const PortRef x = net.parameter("x", "1,1,64,64");
  const RawAttributes raw{{"strides", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}, {"dilations", "1,1"}};
  const PortRef conv = net.layer("Convolution", "conv", {x, net.constant({1, 1, 1, 1}, {2})}, raw);
  net.result(net.layer("Add", "y", {conv, net.constant({1, 1, 1, 1}, {1})}));
  return net.finish();
}

Model slow_model(int layers, std::int64_t count) {
  NetBuilder net;
  PortRef last = net.parameter("x", std::to_string(count));
  for (int i = 0; i < layers; ++i) last = net.layer("Tanh", "tanh" + std::to_string(i), {last});
  net.result(last);
  return net.finish();
}

Model gather_model() {
  NetBuilder net;
  const PortRef x = net.parameter("x", "4");
  const PortRef index = net.parameter("index", "1", ElementType::i64);
  const PortRef axis = net.constant(make_i64_tensor({}, std::vector<std::int64_t>{0}));
  net.result(net.layer("Gather", "y", {x, index, axis}, {}, 8));
  return net.finish();
}

Tensor filled(const Shape& shape, float value) {
  Tensor tensor(ElementType::f32, shape);
  std::fill_n(tensor.mutable_values<float>().begin(), tensor.count(), value);
  return tensor;
}

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

}  // namespace headrace::test
