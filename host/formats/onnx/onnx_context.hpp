// SPDX-License-Identifier: Apache-2.0
// What a converter gets: one ONNX node with typed access to its attributes, its inputs and what is known of them, and
// the emission of IR operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/onnx_builder.hpp"
#include "formats/onnx/onnx_file.hpp"
#include "formats/onnx/onnx_tensor.hpp"

namespace headrace::detail {

class OnnxReader;

using Ints = std::vector<std::int64_t>;

// Lives for the conversion of one node. Not thread-safe.
class OnnxContext {
 public:
  OnnxContext(OnnxReader& reader, const OnnxNode& node, std::int64_t opset, std::vector<std::optional<PortRef>> inputs);

  const OnnxNode& node() const { return node_; }
  std::string type() const { return std::string(node_.op_type); }
  std::int64_t opset() const { return opset_; }
  OnnxReader& reader() { return reader_; }

  // Throws kUnsupported with the reason; the reader puts the node before it.
  [[noreturn]] void refuse(const std::string& reason, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) const;

  // Attributes. Strings with control characters throw kBadModel.
  const OnnxAttribute* find_attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }
  std::int64_t attr_int(std::string_view name, std::int64_t fallback) const;
  double attr_float(std::string_view name, double fallback) const;
  std::string attr_string(std::string_view name, std::string_view fallback) const;
  std::optional<Ints> attr_ints(std::string_view name) const;
  std::vector<float> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_strings(std::string_view name) const;
  std::optional<Tensor> attr_tensor(std::string_view name);
  const OnnxGraph& attr_graph(std::string_view name) const;

  // Inputs and outputs by position; an input with an empty name is absent.
  std::size_t count_inputs() const { return inputs_.size(); }
  std::size_t count_outputs() const { return node_.outputs.size(); }
  bool has_input(std::size_t index) const { return index < inputs_.size() && inputs_[index].has_value(); }
  PortRef input(std::size_t index) const;
  std::optional<PortRef> maybe_input(std::size_t index) const;
  std::vector<PortRef> all_inputs() const;
  bool wants_output(std::size_t index) const { return index < node_.outputs.size() && !node_.outputs[index].empty(); }

  // What is known before the run. Those without `optional` throw kUnsupported where it is not known.
  ElementType element_type(PortRef ref) const;
  std::optional<std::size_t> maybe_rank(PortRef ref) const;
  std::size_t rank(PortRef ref) const;
  std::optional<Shape> static_shape(PortRef ref) const;
  Shape shape(PortRef ref) const;
  std::optional<std::int64_t> static_dim(PortRef ref, std::size_t axis) const;
  std::int64_t dim(PortRef ref, std::size_t axis) const;
  // A value that does not depend on the inputs' shapes.
  std::optional<Tensor> value(PortRef ref) const;
  std::optional<Ints> ints(PortRef ref) const;
  Ints need_ints(PortRef ref, std::string_view what) const;
  std::optional<double> scalar(PortRef ref) const;
  // An axis in [0, rank); throws kBadModel outside [-rank, rank).
  std::int64_t axis(std::int64_t axis, std::size_t rank) const;

  // The shape as far as it is known, of unknown rank where nothing is.
  PartialShape partial_shape(PortRef ref) const;

  // Emission.
  PortRef add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
              const RawAttributes& attributes = {}, std::size_t outputs = 1);
  PortRef constant(const Tensor& value);
  PortRef constant_ints(const Ints& values);                  // i64, shape [n]
  PortRef constant_int(std::int64_t value);                   // i64, a scalar
  PortRef constant_floats(const std::vector<float>& values);  // f32, shape [n]
  PortRef constant_scalar(double value, ElementType type);    // a scalar
  PortRef constant_like(double value, PortRef ref);           // a scalar of the tensor's type
  PortRef filled(double value, ElementType type, const Shape& shape);

  PortRef unary(std::string_view type, PortRef x) { return add(type, 1, {x}); }
  PortRef binary(std::string_view type, PortRef a, PortRef b) { return add(type, 1, {a, b}); }
  PortRef reshape(PortRef x, const Ints& shape, bool zero_copies = true);
  PortRef reshape_to(PortRef x, PortRef shape);
  PortRef transpose(PortRef x, const Ints& order);
  PortRef squeeze(PortRef x, const Ints& axes);
  PortRef unsqueeze(PortRef x, const Ints& axes);
  PortRef convert(PortRef x, ElementType type);  // nothing where x has the type
  PortRef concat(const std::vector<PortRef>& parts, std::int64_t axis);
  PortRef gather(PortRef x, PortRef indices, std::int64_t axis);
  PortRef shape_of(PortRef x);                                                         // i64, shape [rank]
  PortRef slice(PortRef x, std::int64_t start, std::int64_t stop, std::int64_t axis);  // step 1
  PortRef reduce(std::string_view type, PortRef x, const Ints& axes, bool keeps_dims);
  PortRef broadcast(PortRef x, PortRef shape);  // numpy rule
  PortRef select(PortRef condition, PortRef yes, PortRef no) { return add("Select", 1, {condition, yes, no}); }

 private:
  OnnxBuilder& builder() const;  // changes while a body is read

  OnnxReader& reader_;
  const OnnxNode& node_;
  std::int64_t opset_;
  std::vector<std::optional<PortRef>> inputs_;
};

// IR's text for attributes.
std::string text(std::int64_t value);
std::string text(double value);
std::string text(const Ints& values);
std::string text(bool value);
inline std::string text(const char* value) { return value; }

// Ints {first, first + 1, ..., last - 1}.
Ints iota(std::int64_t first, std::int64_t last);

// Converts one node and returns its outputs, those that nobody wants may be missing at the end.
using OnnxConvert = std::vector<PortRef> (*)(OnnxContext& context);

struct OnnxConverter {
  std::string_view type;
  OnnxConvert convert;
  std::string_view domain = "";
};

// Finds the converter of an operator; null where there is none. The table is written by the build from
// host/formats/onnx/ops/*_onnx.cpp.
const OnnxConverter* find_onnx_converter(std::string_view domain, std::string_view type);

}  // namespace headrace::detail
