// SPDX-License-Identifier: Apache-2.0
#include "unit/formats/tensorflow/graph_bytes.hpp"

#include <memory>

namespace headrace::test {

Message tf_attribute(std::string_view name, const Message& value) { return Message().text(1, name).message(2, value); }
Message tf_type(std::string_view name, int type) { return tf_attribute(name, Message().number(6, type)); }
Message tf_int(std::string_view name, std::int64_t value) { return tf_attribute(name, Message().number(3, value)); }
Message tf_bool(std::string_view name, bool value) { return tf_attribute(name, Message().number(5, value ? 1 : 0)); }
Message tf_string(std::string_view name, std::string_view value) {
  return tf_attribute(name, Message().text(2, value));
}
Message tf_function(std::string_view name, std::string_view function) {
  return tf_attribute(name, Message().message(10, Message().text(1, function)));
}

Message tf_shape(const std::vector<std::int64_t>& dims) {
  Message shape;
  for (const std::int64_t dim : dims) shape.message(2, Message().number(1, dim));
  return shape;
}

Message tf_node(std::string_view name, std::string_view op, const Strings& inputs,
                const std::vector<Message>& attributes) {
  Message node;
  node.text(1, name).text(2, op);
  for (const std::string& input : inputs) node.text(3, input);
  for (const Message& attribute : attributes) node.message(5, attribute);
  return node;
}

Message tf_placeholder(std::string_view name, const std::vector<std::int64_t>& dims, int type) {
  return tf_node(name, "Placeholder", {},
                 {tf_type("dtype", type), tf_attribute("shape", Message().message(7, tf_shape(dims)))});
}

Message tf_const(std::string_view name, int type, const std::vector<std::int64_t>& dims, Message values) {
  values.number(1, type).message(2, tf_shape(dims));
  return tf_node(name, "Const", {}, {tf_type("dtype", type), tf_attribute("value", Message().message(8, values))});
}

Message tf_floats(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  Message tensor;
  for (const float value : values) tensor.float32(5, value);
  return tf_const(name, kTfFloat, dims, tensor);
}

Message tf_ints(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& values) {
  Message tensor;
  for (const std::int64_t value : values) tensor.number(7, value);
  return tf_const(name, kTfInt32, dims, tensor);
}

Message tf_function_def(std::string_view name, const Strings& inputs,
                        const std::vector<std::pair<std::string, std::string>>& results,
                        const std::vector<Message>& nodes) {
  Message signature;
  signature.text(1, name);
  for (const std::string& input : inputs) signature.message(2, Message().text(1, input));
  for (const auto& [output, tensor] : results) signature.message(3, Message().text(1, output));
  Message function;
  function.message(1, signature);
  for (const Message& node : nodes) function.message(3, node);
  for (const auto& [output, tensor] : results) function.message(4, Message().text(1, output).text(2, tensor));
  return function;
}

std::string tf_graph(const std::vector<Message>& nodes, const std::vector<Message>& functions) {
  Message graph;
  for (const Message& node : nodes) graph.message(1, node);
  Message library;
  for (const Message& function : functions) library.message(1, function);
  if (!functions.empty()) graph.message(2, library);
  return graph.bytes();
}

Graph parse_tf(const std::string& bytes) {
  const std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size() + kMemoryAlignment]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return parse_tensorflow({copy.get(), bytes.size()}, copy);
}

std::vector<Tensor> run_tf(const std::string& bytes, const std::vector<Tensor>& inputs) {
  return run(parse_tf(bytes), inputs);
}

}  // namespace headrace::test
