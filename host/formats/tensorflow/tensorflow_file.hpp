// SPDX-License-Identifier: Apache-2.0
// What a frozen graph (.pb, a GraphDef) says, as plain structs: no operator is known yet, and nothing is checked but
// the file's own grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

// Every string_view and span points into the file's bytes, which TensorflowModel::owner keeps alive.
//
// Source of the messages and their field numbers: graph.proto, node_def.proto, attr_value.proto, tensor.proto,
// tensor_shape.proto, types.proto, function.proto and op_def.proto of TensorFlow (tensorflow/core/framework).

// Numbers of DataType; a number plus 100 is a reference to such a tensor.
enum class TensorflowType : std::int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

struct TensorflowShape {
  bool is_rank_unknown = false;
  std::vector<std::int64_t> dims;  // -1: unknown
};

struct TensorflowTensor {
  std::int32_t type = 0;
  TensorflowShape shape;
  std::span<const std::byte> message;  // the whole TensorProto: typed fields are decoded where the value is wanted
  std::span<const std::byte> content;
};

struct TensorflowAttribute {
  std::string_view name;
  std::int64_t i = 0;
  float f = 0.0F;
  bool b = false;
  std::int32_t type = 0;
  std::string_view s;
  std::string_view function;          // the name of a function
  std::string_view placeholder;       // inside a function: the call's attribute that this one stands for
  std::span<const std::byte> shape;   // TensorShapeProto
  std::span<const std::byte> tensor;  // TensorProto
  std::span<const std::byte> list;    // ListValue
  bool has_shape = false;
};

struct TensorflowNode {
  std::string_view name;
  std::string_view op;
  std::vector<std::string_view> inputs;  // "a", "a:1", "^a"; in functions also "a:output:1"
  std::vector<TensorflowAttribute> attributes;
};

struct TensorflowFunction {
  std::string_view name;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<TensorflowNode> nodes;
  std::vector<std::pair<std::string_view, std::string_view>> returns;  // output -> tensor
};

struct TensorflowModel {
  std::shared_ptr<const void> owner;
  std::vector<TensorflowNode> nodes;
  std::vector<TensorflowFunction> functions;
};

// Decodes a GraphDef. Memory is bounded by a multiple of the file's size; tensor contents are not copied.
// Throws kBadModel naming what is damaged.
TensorflowModel parse_tensorflow_file(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

TensorflowShape parse_tensorflow_shape(std::span<const std::byte> bytes);
TensorflowTensor parse_tensorflow_tensor(std::span<const std::byte> bytes);
// Values of a ListValue.
std::vector<std::int64_t> tensorflow_list_ints(std::span<const std::byte> bytes);
std::vector<float> tensorflow_list_floats(std::span<const std::byte> bytes);
std::vector<std::string_view> tensorflow_list_functions(std::span<const std::byte> bytes);

// Returns TensorFlow's name of an element type ("DT_DOUBLE"), or its number for one that it does not have.
std::string tensorflow_type_name(std::int32_t type);

}  // namespace headrace::detail
