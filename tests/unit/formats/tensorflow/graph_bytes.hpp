// SPDX-License-Identifier: Apache-2.0
// Writes small frozen graphs as bytes, for the tests of the TensorFlow reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensorflow/tensorflow_reader.hpp"
#include "unit/formats/onnx/onnx_bytes.hpp"

namespace headrace::test {

// Numbers of DataType.
inline constexpr int kTfFloat = 1, kTfDouble = 2, kTfInt32 = 3, kTfString = 7, kTfBool = 10, kTfHalf = 19;

// An entry of NodeDef.attr.
Message tf_attribute(std::string_view name, const Message& value);
Message tf_type(std::string_view name, int type);
Message tf_int(std::string_view name, std::int64_t value);
Message tf_bool(std::string_view name, bool value);
Message tf_string(std::string_view name, std::string_view value);
Message tf_function(std::string_view name, std::string_view function);
Message tf_shape(const std::vector<std::int64_t>& dims);

// A NodeDef.
Message tf_node(std::string_view name, std::string_view op, const Strings& inputs = {},
                const std::vector<Message>& attributes = {});
Message tf_placeholder(std::string_view name, const std::vector<std::int64_t>& dims, int type = kTfFloat);
// A Const of the TensorProto that `values` completes: its type and shape are set here.
Message tf_const(std::string_view name, int type, const std::vector<std::int64_t>& dims, Message values);
Message tf_floats(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<float>& values);
Message tf_ints(std::string_view name, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& values);

// A FunctionDef whose results are pairs of an output's name and a tensor.
Message tf_function_def(std::string_view name, const Strings& inputs,
                        const std::vector<std::pair<std::string, std::string>>& results,
                        const std::vector<Message>& nodes);

std::string tf_graph(const std::vector<Message>& nodes, const std::vector<Message>& functions = {});

// Reads a graph from memory.
Graph parse_tf(const std::string& bytes);

// Infers shapes and runs the references of all nodes; results in the order of the outputs.
std::vector<Tensor> run_tf(const std::string& bytes, const std::vector<Tensor>& inputs);

}  // namespace headrace::test
