// SPDX-License-Identifier: Apache-2.0
// What a converter of one TensorFlow operator sees of its node, and what it may emit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "formats/import/emitter.hpp"
#include "formats/tensorflow/tensorflow_file.hpp"
#include "formats/tensorflow/tensorflow_value.hpp"

namespace headrace::detail {

class TensorflowReader;

// Lives for the conversion of one node. Not thread-safe.
class TensorflowContext : public Emitter {
 public:
  TensorflowContext(TensorflowReader& reader, const TensorflowNode& node, TensorflowValues inputs);

  const TensorflowNode& node() const { return node_; }
  TensorflowReader& reader() { return reader_; }

  // Attributes. Strings with control characters throw kBadModel, one that stands for an argument of a call
  // kUnsupported.
  const TensorflowAttribute* find_attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }
  std::int64_t attr_int(std::string_view name, std::int64_t fallback) const;
  double attr_float(std::string_view name, double fallback) const;
  bool attr_bool(std::string_view name, bool fallback) const;
  std::string attr_string(std::string_view name, std::string_view fallback) const;
  Ints attr_ints(std::string_view name) const;  // empty where it is absent
  // Throws kUnsupported with TensorFlow's name for the type, kBadModel where the attribute is missing.
  ElementType attr_element_type(std::string_view name) const;
  ElementType attr_element_type(std::string_view name, ElementType fallback) const;
  // Of unknown rank where the attribute is missing or says so.
  PartialShape attr_partial_shape(std::string_view name) const;
  std::string_view attr_function(std::string_view name) const;

  // Data inputs by position.
  std::size_t count_inputs() const { return inputs_.size(); }
  const TensorflowValues& values() const { return inputs_; }
  PortRef input(std::size_t index) const;
  std::vector<PortRef> all_inputs() const;
  // Input `index` as a list of tensors (a TensorList).
  const std::vector<PortRef>& list(std::size_t index) const;

 private:
  ImportBuilder& builder() const override;

  TensorflowReader& reader_;
  const TensorflowNode& node_;
  TensorflowValues inputs_;
};

// Converts one node and returns its outputs; those that cannot be computed may be missing at the end.
using TensorflowConvert = TensorflowValues (*)(TensorflowContext& context);

struct TensorflowConverter {
  std::string_view type;
  TensorflowConvert convert;
};

// Finds the converter of an operator; null where there is none. The table is written by the build from
// host/formats/tensorflow/ops/*_tensorflow.cpp.
const TensorflowConverter* find_tensorflow_converter(std::string_view type);

}  // namespace headrace::detail
