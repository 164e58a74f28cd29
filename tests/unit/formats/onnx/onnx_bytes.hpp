// SPDX-License-Identifier: Apache-2.0
// Writes small ONNX models as bytes and runs what the reader makes of them, for the tests of the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.hpp"
#include "formats/onnx/onnx_reader.hpp"

namespace headrace::test {

// One protobuf message. Field numbers are onnx.proto's.
class Message {
 public:
  Message& number(int field, std::int64_t value);
  Message& text(int field, std::string_view value);
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  Message& float32(int field, float value);
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  std::string bytes_;
};

using Strings = std::vector<std::string>;

Message int_attribute(std::string_view name, std::int64_t value);
Message ints_attribute(std::string_view name, const std::vector<std::int64_t>& values);
Message float_attribute(std::string_view name, float value);
Message string_attribute(std::string_view name, std::string_view value);
Message graph_attribute(std::string_view name, const Message& graph);
Message tensor_attribute(std::string_view name, const Message& tensor);
Message ref_attribute(std::string_view name, std::string_view of_caller);

// TensorProtos with raw_data; `type` is TensorProto.DataType.
Message raw_tensor(std::string_view name, int type, const std::vector<std::int64_t>& dims, std::string_view raw);
Message float_tensor(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<float>& values);
Message int64_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                     const std::vector<std::int64_t>& values);
Message external_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                        const std::vector<std::pair<std::string, std::string>>& entries);

// A ValueInfoProto; dimensions below 0 are unknown.
Message value_info(std::string_view name, int type, const std::vector<std::int64_t>& dims);

Message node(std::string_view type, const Strings& inputs, const Strings& outputs,
             const std::vector<Message>& attributes = {}, std::string_view name = "", std::string_view domain = "");

// A GraphProto from its parts.
struct GraphParts {
  std::vector<Message> nodes;
  std::vector<Message> inputs;
  std::vector<Message> outputs;
  std::vector<Message> initializers;
};
Message graph(const GraphParts& parts);

std::string model(const GraphParts& parts, std::int64_t opset = 17, const std::vector<Message>& functions = {},
                  std::int64_t ir_version = 8);

// Reads a model from memory.
Graph parse(const std::string& bytes);

// Infers shapes and runs the references of all nodes; results in the order of the outputs.
std::vector<Tensor> run(Graph graph, const std::vector<Tensor>& inputs);
std::vector<Tensor> run(const std::string& bytes, const std::vector<Tensor>& inputs);

// The message of the error that the function throws, or "no error".
template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace headrace::test
