// SPDX-License-Identifier: Apache-2.0
#include "unit/formats/onnx/onnx_bytes.hpp"

#include "ops/evaluate.hpp"
#include "passes/infer_shapes.hpp"

namespace headrace::test {
namespace {

constexpr int kVarint = 0;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

std::uint64_t tag(int field, int wire_type) { return static_cast<std::uint64_t>(field * 8 + wire_type); }

Message attribute(std::string_view name, int type) { return Message().text(1, name).number(20, type); }

template <typename T>
std::string_view raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Message opset_import(std::int64_t version, std::string_view domain = "") {
  return Message().text(1, domain).number(2, version);
}

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value % 128 + 128);
  bytes_ += static_cast<char>(value);
}

Message& Message::number(int field, std::int64_t value) {
  varint(tag(field, kVarint));
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::text(int field, std::string_view value) {
  varint(tag(field, kBytes));
  varint(value.size());
  bytes_ += value;
  return *this;
}

Message& Message::float32(int field, float value) {
  varint(tag(field, kFixed32));
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof raw);
  return *this;
}

Message int_attribute(std::string_view name, std::int64_t value) { return attribute(name, 2).number(3, value); }

Message ints_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  Message result = attribute(name, 7);
  for (const std::int64_t value : values) result.number(8, value);
  return result;
}

Message float_attribute(std::string_view name, float value) { return attribute(name, 1).float32(2, value); }

Message string_attribute(std::string_view name, std::string_view value) { return attribute(name, 3).text(4, value); }

Message graph_attribute(std::string_view name, const Message& graph) { return attribute(name, 5).message(6, graph); }

Message tensor_attribute(std::string_view name, const Message& tensor) { return attribute(name, 4).message(5, tensor); }

Message ref_attribute(std::string_view name, std::string_view of_caller) {
  return attribute(name, 1).text(21, of_caller);
}

Message raw_tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims, std::string_view raw) {
  Message result;
  for (const std::int64_t dim : dims) result.number(1, dim);
  return result.number(2, type).text(8, name).text(9, raw);
}

Message float_tensor(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  return raw_tensor(name, 1, dims, raw_bytes(values));
}

Message int64_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                     const std::vector<std::int64_t>& values) {
  return raw_tensor(name, 7, dims, raw_bytes(values));
}

Message external_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                        const std::vector<std::pair<std::string, std::string>>& entries) {
  Message result;
  for (const std::int64_t dim : dims) result.number(1, dim);
  result.number(2, 1).text(8, name);
  for (const auto& [key, value] : entries) result.message(13, Message().text(1, key).text(2, value));
  return result.number(14, 1);
}

Message value_info(std::string_view name, int type, const std::vector<std::int64_t>& dims) {
  Message shape;
  for (const std::int64_t dim : dims) shape.message(1, dim < 0 ? Message() : Message().number(1, dim));
  const Message tensor_type = Message().number(1, type).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, tensor_type));
}

Message node(std::string_view type, const Strings& inputs, const Strings& outputs,
             const std::vector<Message>& attributes, std::string_view name, std::string_view domain) {
  Message result;
  for (const std::string& input : inputs) result.text(1, input);
  for (const std::string& output : outputs) result.text(2, output);
  result.text(3, name).text(4, type).text(7, domain);
  for (const Message& entry : attributes) result.message(5, entry);
  return result;
}

Message graph(const GraphParts& parts) {
  Message result;
  for (const Message& part : parts.nodes) result.message(1, part);
  result.text(2, "g");
  for (const Message& part : parts.initializers) result.message(5, part);
  for (const Message& part : parts.inputs) result.message(11, part);
  for (const Message& part : parts.outputs) result.message(12, part);
  return result;
}

std::string model(const GraphParts& parts, std::int64_t opset, const std::vector<Message>& functions,
                  std::int64_t ir_version) {
  Message result = Message().number(1, ir_version).message(7, graph(parts)).message(8, opset_import(opset));
  result.message(8, opset_import(1, "own"));
  for (const Message& function : functions) result.message(25, function);
  return result.bytes();
}

Graph parse(const std::string& bytes) {
  // Exactly so many bytes, and the slack that the reader asks for.
  const std::shared_ptr<char[]> copy(new char[bytes.size() + kMemoryAlignment]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return parse_onnx({reinterpret_cast<const std::byte*>(copy.get()), bytes.size()}, copy);
}

std::vector<Tensor> run(Graph graph, const std::vector<Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  std::map<PortRef, Tensor> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeId parameter = graph.parameters().at(i);
    shapes[graph.at(parameter).name] = inputs[i].shape();
    values[{parameter, 0}] = inputs[i];
  }
  infer_shapes(graph, shapes);
  std::vector<Tensor> results;
  for (const NodeId id : graph.topological_order()) {
    const Node& at = graph.at(id);
    if (at.type == "Parameter" || at.type == "Result") continue;
    std::vector<Tensor> arguments;
    for (const PortRef& input : at.inputs) arguments.push_back(values.at(input));
    const std::vector<Tensor> outputs =
        at.type == "Const" ? std::vector<Tensor>{at.value.aligned_copy()} : evaluate(at, arguments);
    for (std::size_t i = 0; i < outputs.size(); ++i) values[{id, static_cast<std::int32_t>(i)}] = outputs[i];
  }
  for (const NodeId id : graph.results()) results.push_back(values.at(graph.at(id).inputs.at(0)));
  return results;
}

std::vector<Tensor> run(const std::string& bytes, const std::vector<Tensor>& inputs) {
  return run(parse(bytes), inputs);
}

}  // namespace headrace::test
