// SPDX-License-Identifier: Apache-2.0
// What an .onnx file says, as plain structs: no operator is known yet, and nothing is checked but the file's own
// grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

// Every string_view and span points into the file's bytes, which OnnxModel::owner keeps alive.
//
// Source of the messages and their field numbers: onnx.proto of the ONNX project, IR versions 3 to 11 (fields were
// only ever added).

// Numbers of TensorProto.DataType.
enum class OnnxType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

struct OnnxTensor {
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int32_t data_type = 0;
  std::span<const std::byte> message;  // the whole TensorProto: typed fields are decoded where the value is wanted
  std::optional<std::span<const std::byte>> raw_data;
  bool is_external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external_data;  // keys and values
};

struct OnnxGraph;

struct OnnxAttribute {
  std::string_view name;
  std::string_view ref_attr_name;  // inside a function: the caller's attribute that this one stands for
  std::int32_t type = 0;           // AttributeProto.AttributeType, 0 in very old files
  float f = 0.0F;
  std::int64_t i = 0;
  std::string_view s;
  std::shared_ptr<const OnnxTensor> t;
  std::shared_ptr<const OnnxGraph> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  bool has_sparse_tensor = false;
};

struct OnnxNode {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;  // empty names: optional inputs that are left out
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> attributes;
};

struct OnnxDimension {
  std::optional<std::int64_t> value;
  std::string_view param;  // the name of an unknown dimension
};

struct OnnxValueInfo {
  std::string_view name;
  std::string_view kind = "";  // "tensor", "sequence", "map", "optional", "sparse tensor", or "" where it isn't said
  std::int32_t elem_type = 0;
  bool has_shape = false;
  std::vector<OnnxDimension> dims;
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<std::string_view> sparse_initializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> value_infos;
};

struct OnnxOpset {
  std::string_view domain;
  std::int64_t version = 0;
};

struct OnnxFunction {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<OnnxAttribute> defaults;  // attributes that a caller may leave out
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
};

struct OnnxModel {
  std::shared_ptr<const void> owner;
  std::string folder;  // where external data may lie; empty for a model in memory
  std::int64_t ir_version = 0;
  std::vector<OnnxOpset> opsets;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
};

// Subgraphs of If, Loop and Scan inside each other; real models need 3 or 4.
inline constexpr int kMaxGraphDepth = 32;

// Decodes a ModelProto. Memory is bounded by a multiple of the file's size; raw tensor data is not copied.
// Throws kBadModel naming what is damaged.
OnnxModel parse_onnx_file(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// The values of a TensorProto's float_data, packed or not. Throws kBadModel where there are other than `count`.
std::vector<float> onnx_float_data(const OnnxTensor& tensor, std::size_t count);
// The values of double_data. Throws kBadModel likewise.
std::vector<double> onnx_double_data(const OnnxTensor& tensor, std::size_t count);
// The values of int64_data for INT64, of uint64_data for UINT32 and UINT64 (modulo 2^64), else of int32_data. Throws
// kBadModel likewise.
std::vector<std::int64_t> onnx_int64_data(const OnnxTensor& tensor, std::size_t count);

// Returns ONNX's name of an element type ("DOUBLE"), or its number for one that it does not have.
std::string onnx_type_name(std::int32_t data_type);

}  // namespace headrace::detail
