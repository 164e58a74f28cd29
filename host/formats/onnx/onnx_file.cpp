// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_file.hpp"

#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/wire_fields.hpp"

namespace headrace::detail {
namespace {

using Bytes = std::span<const std::byte>;

OnnxGraph parse_graph(Bytes bytes, int depth);

std::pair<std::string_view, std::string_view> parse_entry(Bytes bytes) {
  std::pair<std::string_view, std::string_view> entry;
  for (WireFields fields(bytes, "StringStringEntryProto"); fields.next();) {
    if (fields.number() == 1) entry.first = fields.text();
    if (fields.number() == 2) entry.second = fields.text();
  }
  return entry;
}

OnnxTensor parse_tensor(Bytes bytes) {
  OnnxTensor tensor;
  tensor.message = bytes;
  for (WireFields fields(bytes, "TensorProto"); fields.next();) {
    switch (fields.number()) {
      case 1: fields.append_int64s(tensor.dims); break;
      case 2: tensor.data_type = fields.int32(); break;
      case 8: tensor.name = fields.text(); break;
      case 9: tensor.raw_data = fields.bytes(); break;
      case 13: tensor.external_data.push_back(parse_entry(fields.bytes())); break;
      case 14: tensor.is_external = fields.int64() == 1; break;
      default: break;
    }
  }
  return tensor;
}

std::string_view parse_sparse_name(Bytes bytes) {
  for (WireFields fields(bytes, "SparseTensorProto"); fields.next();) {
    if (fields.number() == 1) return parse_tensor(fields.bytes()).name;
  }
  return {};
}

void parse_attribute_value(WireFields& fields, int depth, OnnxAttribute& attribute) {
  switch (fields.number()) {
    case 2: attribute.f = fields.float32(); break;
    case 3: attribute.i = fields.int64(); break;
    case 4: attribute.s = fields.text(); break;
    case 5: attribute.t = std::make_shared<const OnnxTensor>(parse_tensor(fields.bytes())); break;
    case 6: attribute.g = std::make_shared<const OnnxGraph>(parse_graph(fields.bytes(), depth + 1)); break;
    case 7: fields.append_floats(attribute.floats); break;
    case 8: fields.append_int64s(attribute.ints); break;
    case 9: attribute.strings.push_back(fields.text()); break;
    case 22: attribute.has_sparse_tensor = true; break;
    default: break;
  }
}

OnnxAttribute parse_attribute(Bytes bytes, int depth) {
  OnnxAttribute attribute;
  for (WireFields fields(bytes, "AttributeProto"); fields.next();) {
    switch (fields.number()) {
      case 1: attribute.name = fields.text(); break;
      case 20: attribute.type = fields.int32(); break;
      case 21: attribute.ref_attr_name = fields.text(); break;
      default: parse_attribute_value(fields, depth, attribute);
    }
  }
  return attribute;
}

OnnxNode parse_node(Bytes bytes, int depth) {
  OnnxNode node;
  for (WireFields fields(bytes, "NodeProto"); fields.next();) {
    switch (fields.number()) {
      case 1: node.inputs.push_back(fields.text()); break;
      case 2: node.outputs.push_back(fields.text()); break;
      case 3: node.name = fields.text(); break;
      case 4: node.op_type = fields.text(); break;
      case 5: node.attributes.push_back(parse_attribute(fields.bytes(), depth)); break;
      case 7: node.domain = fields.text(); break;
      case 8: node.overload = fields.text(); break;
      default: break;
    }
  }
  if (node.op_type.empty()) fail(ErrorCode::kBadModel, "node " + quote(node.name) + " has no op_type");
  if (node.domain == "ai.onnx") node.domain = "";
  return node;
}

OnnxDimension parse_dimension(Bytes bytes) {
  OnnxDimension dimension;
  for (WireFields fields(bytes, "TensorShapeProto.Dimension"); fields.next();) {
    if (fields.number() == 1) dimension.value = fields.int64();
    if (fields.number() == 2) dimension.param = fields.text();
  }
  return dimension;
}

void parse_tensor_type(Bytes bytes, OnnxValueInfo& info) {
  for (WireFields fields(bytes, "TypeProto.Tensor"); fields.next();) {
    if (fields.number() == 1) info.elem_type = fields.int32();
    if (fields.number() != 2) continue;
    info.has_shape = true;
    for (WireFields shape(fields.bytes(), "TensorShapeProto"); shape.next();) {
      if (shape.number() == 1) info.dims.push_back(parse_dimension(shape.bytes()));
    }
  }
}

void parse_type(Bytes bytes, OnnxValueInfo& info) {
  for (WireFields fields(bytes, "TypeProto"); fields.next();) {
    switch (fields.number()) {
      case 1:
        info.kind = "tensor";
        parse_tensor_type(fields.bytes(), info);
        break;
      case 4: info.kind = "sequence"; break;
      case 5: info.kind = "map"; break;
      case 7: info.kind = "opaque"; break;
      case 8: info.kind = "sparse tensor"; break;
      case 9: info.kind = "optional"; break;
      default: break;
    }
  }
}

OnnxValueInfo parse_value_info(Bytes bytes) {
  OnnxValueInfo info;
  for (WireFields fields(bytes, "ValueInfoProto"); fields.next();) {
    if (fields.number() == 1) info.name = fields.text();
    if (fields.number() == 2) parse_type(fields.bytes(), info);
  }
  return info;
}

OnnxGraph parse_graph(Bytes bytes, int depth) {
  if (depth > kMaxGraphDepth) {
    fail(ErrorCode::kBadModel, "graphs are nested deeper than " + std::to_string(kMaxGraphDepth));
  }
  OnnxGraph graph;
  for (WireFields fields(bytes, "GraphProto"); fields.next();) {
    switch (fields.number()) {
      case 1: graph.nodes.push_back(parse_node(fields.bytes(), depth)); break;
      case 2: graph.name = fields.text(); break;
      case 5: graph.initializers.push_back(parse_tensor(fields.bytes())); break;
      case 11: graph.inputs.push_back(parse_value_info(fields.bytes())); break;
      case 12: graph.outputs.push_back(parse_value_info(fields.bytes())); break;
      case 13: graph.value_infos.push_back(parse_value_info(fields.bytes())); break;
      case 15: graph.sparse_initializers.push_back(parse_sparse_name(fields.bytes())); break;
      default: break;
    }
  }
  return graph;
}

OnnxOpset parse_opset(Bytes bytes) {
  OnnxOpset opset;
  for (WireFields fields(bytes, "OperatorSetIdProto"); fields.next();) {
    if (fields.number() == 1) opset.domain = fields.text();
    if (fields.number() == 2) opset.version = fields.int64();
  }
  if (opset.domain == "ai.onnx") opset.domain = "";
  return opset;
}

OnnxFunction parse_function(Bytes bytes) {
  OnnxFunction function;
  for (WireFields fields(bytes, "FunctionProto"); fields.next();) {
    switch (fields.number()) {
      case 1: function.name = fields.text(); break;
      case 4: function.inputs.push_back(fields.text()); break;
      case 5: function.outputs.push_back(fields.text()); break;
      case 7: function.nodes.push_back(parse_node(fields.bytes(), 0)); break;
      case 9: function.opsets.push_back(parse_opset(fields.bytes())); break;
      case 10: function.domain = fields.text(); break;
      case 11: function.defaults.push_back(parse_attribute(fields.bytes(), 0)); break;
      case 13: function.overload = fields.text(); break;
      default: break;
    }
  }
  return function;
}

void check_count(std::size_t found, std::size_t wanted) {
  if (found == wanted) return;
  fail(ErrorCode::kBadModel, "has " + std::to_string(found) + " values, its shape " + std::to_string(wanted));
}

}  // namespace

OnnxModel parse_onnx_file(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorCode::kBadModel, "a protobuf message has at most 2 GiB, the file has " + std::to_string(bytes.size()) +
                                   " bytes; large models keep their weights as external data");
  }
  OnnxModel model;
  model.owner = std::move(owner);
  bool has_graph = false;
  for (WireFields fields(bytes, "ModelProto"); fields.next();) {
    switch (fields.number()) {
      case 1: model.ir_version = fields.int64(); break;
      case 7:
        model.graph = parse_graph(fields.bytes(), 0);
        has_graph = true;
        break;
      case 8: model.opsets.push_back(parse_opset(fields.bytes())); break;
      case 25: model.functions.push_back(parse_function(fields.bytes())); break;
      default: break;
    }
  }
  if (!has_graph) fail(ErrorCode::kBadModel, "no ONNX model: the graph is missing");
  return model;
}

std::vector<float> onnx_float_data(const OnnxTensor& tensor, std::size_t count) {
  std::vector<float> values;
  for (WireFields fields(tensor.message, "TensorProto"); fields.next();) {
    if (fields.number() == 4) fields.append_floats(values);
  }
  check_count(values.size(), count);
  return values;
}

std::vector<double> onnx_double_data(const OnnxTensor& tensor, std::size_t count) {
  std::vector<double> values;
  for (WireFields fields(tensor.message, "TensorProto"); fields.next();) {
    if (fields.number() == 10) fields.append_doubles(values);
  }
  check_count(values.size(), count);
  return values;
}

std::vector<std::int64_t> onnx_int64_data(const OnnxTensor& tensor, std::size_t count) {
  const auto type = static_cast<OnnxType>(tensor.data_type);
  const bool is_unsigned = type == OnnxType::kUint32 || type == OnnxType::kUint64;
  const int field = type == OnnxType::kInt64 ? 7 : is_unsigned ? 11 : 5;
  std::vector<std::int64_t> values;
  for (WireFields fields(tensor.message, "TensorProto"); fields.next();) {
    if (fields.number() == field) fields.append_int64s(values);
  }
  check_count(values.size(), count);
  return values;
}

std::string onnx_type_name(std::int32_t data_type) {
  constexpr std::string_view kNames[] = {"UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
                                         "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
                                         "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
                                         "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
                                         "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1"};
  if (data_type < 0 || static_cast<std::size_t>(data_type) >= std::size(kNames)) {
    return "number " + std::to_string(data_type);
  }
  return std::string(kNames[data_type]);
}

}  // namespace headrace::detail
