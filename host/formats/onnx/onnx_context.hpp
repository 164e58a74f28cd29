// SPDX-License-Identifier: Apache-2.0
// What a converter gets: one ONNX node with typed access to its attributes and inputs, besides what Emitter offers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/import/emitter.hpp"
#include "formats/onnx/onnx_file.hpp"
#include "formats/onnx/onnx_tensor.hpp"

namespace headrace::detail {

class OnnxReader;

// Lives for the conversion of one node. Not thread-safe.
class OnnxContext : public Emitter {
 public:
  OnnxContext(OnnxReader& reader, const OnnxNode& node, std::int64_t opset, std::vector<std::optional<PortRef>> inputs);

  const OnnxNode& node() const { return node_; }
  std::string type() const { return std::string(node_.op_type); }
  std::int64_t opset() const { return opset_; }
  OnnxReader& reader() { return reader_; }

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

 private:
  ImportBuilder& builder() const override;

  OnnxReader& reader_;
  const OnnxNode& node_;
  std::int64_t opset_;
  std::vector<std::optional<PortRef>> inputs_;
};

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
