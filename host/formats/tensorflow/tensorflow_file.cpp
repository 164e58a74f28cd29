// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_file.hpp"

#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/wire_fields.hpp"

namespace headrace::detail {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view parse_function_name(Bytes bytes) {
  std::string_view name;
  for (WireFields fields(bytes, "NameAttrList"); fields.next();) {
    if (fields.number() == 1) name = fields.text();
  }
  return name;
}

void parse_attribute_value(Bytes bytes, TensorflowAttribute& attribute) {
  for (WireFields fields(bytes, "AttrValue"); fields.next();) {
    switch (fields.number()) {
      case 1: attribute.list = fields.bytes(); break;
      case 2: attribute.s = fields.text(); break;
      case 3: attribute.i = fields.int64(); break;
      case 4: attribute.f = fields.float32(); break;
      case 5: attribute.b = fields.int64() != 0; break;
      case 6: attribute.type = fields.int32(); break;
      case 7:
        attribute.shape = fields.bytes();
        attribute.has_shape = true;
        break;
      case 8: attribute.tensor = fields.bytes(); break;
      case 9: attribute.placeholder = fields.text(); break;
      case 10: attribute.function = parse_function_name(fields.bytes()); break;
      default: break;
    }
  }
}

TensorflowAttribute parse_attribute(Bytes bytes) {
  TensorflowAttribute attribute;
  for (WireFields fields(bytes, "NodeDef.AttrEntry"); fields.next();) {
    if (fields.number() == 1) attribute.name = fields.text();
    if (fields.number() == 2) parse_attribute_value(fields.bytes(), attribute);
  }
  return attribute;
}

TensorflowNode parse_node(Bytes bytes) {
  TensorflowNode node;
  for (WireFields fields(bytes, "NodeDef"); fields.next();) {
    switch (fields.number()) {
      case 1: node.name = fields.text(); break;
      case 2: node.op = fields.text(); break;
      case 3: node.inputs.push_back(fields.text()); break;
      case 5: node.attributes.push_back(parse_attribute(fields.bytes())); break;
      default: break;
    }
  }
  if (node.name.empty()) fail(ErrorCode::kBadModel, "a node has no name");
  if (node.op.empty()) fail(ErrorCode::kBadModel, "node " + quote(node.name) + " has no op");
  return node;
}

std::string_view parse_argument_name(Bytes bytes) {
  std::string_view name;
  for (WireFields fields(bytes, "OpDef.ArgDef"); fields.next();) {
    if (fields.number() == 1) name = fields.text();
  }
  return name;
}

void parse_signature(Bytes bytes, TensorflowFunction& function) {
  for (WireFields fields(bytes, "OpDef"); fields.next();) {
    switch (fields.number()) {
      case 1: function.name = fields.text(); break;
      case 2: function.inputs.push_back(parse_argument_name(fields.bytes())); break;
      case 3: function.outputs.push_back(parse_argument_name(fields.bytes())); break;
      default: break;
    }
  }
}

std::pair<std::string_view, std::string_view> parse_return(Bytes bytes) {
  std::pair<std::string_view, std::string_view> entry;
  for (WireFields fields(bytes, "FunctionDef.RetEntry"); fields.next();) {
    if (fields.number() == 1) entry.first = fields.text();
    if (fields.number() == 2) entry.second = fields.text();
  }
  return entry;
}

TensorflowFunction parse_function(Bytes bytes) {
  TensorflowFunction function;
  for (WireFields fields(bytes, "FunctionDef"); fields.next();) {
    switch (fields.number()) {
      case 1: parse_signature(fields.bytes(), function); break;
      case 3: function.nodes.push_back(parse_node(fields.bytes())); break;
      case 4: function.returns.push_back(parse_return(fields.bytes())); break;
      default: break;
    }
  }
  return function;
}

}  // namespace

TensorflowModel parse_tensorflow_file(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorCode::kBadModel,
         "a protobuf message has at most 2 GiB, the file has " + std::to_string(bytes.size()) + " bytes");
  }
  TensorflowModel model;
  model.owner = std::move(owner);
  for (WireFields fields(bytes, "GraphDef"); fields.next();) {
    if (fields.number() == 1) model.nodes.push_back(parse_node(fields.bytes()));
    if (fields.number() != 2) continue;
    for (WireFields library(fields.bytes(), "FunctionDefLibrary"); library.next();) {
      if (library.number() == 1) model.functions.push_back(parse_function(library.bytes()));
    }
  }
  if (model.nodes.empty()) fail(ErrorCode::kBadModel, "no TensorFlow graph: it has no nodes");
  return model;
}

TensorflowShape parse_tensorflow_shape(std::span<const std::byte> bytes) {
  TensorflowShape shape;
  for (WireFields fields(bytes, "TensorShapeProto"); fields.next();) {
    if (fields.number() == 3) shape.is_rank_unknown = fields.int64() != 0;
    if (fields.number() != 2) continue;
    std::int64_t size = 0;
    for (WireFields dim(fields.bytes(), "TensorShapeProto.Dim"); dim.next();) {
      if (dim.number() == 1) size = dim.int64();
    }
    shape.dims.push_back(size);
  }
  return shape;
}

TensorflowTensor parse_tensorflow_tensor(std::span<const std::byte> bytes) {
  TensorflowTensor tensor;
  tensor.message = bytes;
  for (WireFields fields(bytes, "TensorProto"); fields.next();) {
    switch (fields.number()) {
      case 1: tensor.type = fields.int32(); break;
      case 2: tensor.shape = parse_tensorflow_shape(fields.bytes()); break;
      case 4: tensor.content = fields.bytes(); break;
      default: break;
    }
  }
  return tensor;
}

std::vector<std::int64_t> tensorflow_list_ints(std::span<const std::byte> bytes) {
  std::vector<std::int64_t> values;
  for (WireFields fields(bytes, "AttrValue.ListValue"); fields.next();) {
    if (fields.number() == 3) fields.append_int64s(values);
  }
  return values;
}

std::vector<float> tensorflow_list_floats(std::span<const std::byte> bytes) {
  std::vector<float> values;
  for (WireFields fields(bytes, "AttrValue.ListValue"); fields.next();) {
    if (fields.number() == 4) fields.append_floats(values);
  }
  return values;
}

std::vector<std::string_view> tensorflow_list_functions(std::span<const std::byte> bytes) {
  std::vector<std::string_view> names;
  for (WireFields fields(bytes, "AttrValue.ListValue"); fields.next();) {
    if (fields.number() == 9) names.push_back(parse_function_name(fields.bytes()));
  }
  return names;
}

std::string tensorflow_type_name(std::int32_t type) {
  constexpr std::string_view kNames[] = {"INVALID",    "FLOAT",  "DOUBLE",    "INT32",   "UINT8",   "INT16",
                                         "INT8",       "STRING", "COMPLEX64", "INT64",   "BOOL",    "QINT8",
                                         "QUINT8",     "QINT32", "BFLOAT16",  "QINT16",  "QUINT16", "UINT16",
                                         "COMPLEX128", "HALF",   "RESOURCE",  "VARIANT", "UINT32",  "UINT64"};
  if (type < 0 || static_cast<std::size_t>(type) >= std::size(kNames)) return "number " + std::to_string(type);
  return "DT_" + std::string(kNames[type]);
}

}  // namespace headrace::detail
