// SPDX-License-Identifier: Apache-2.0
// What a converter gets: one layer of an old IR with its attributes, inputs and weights.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/import/emitter.hpp"
#include "formats/ir/ir_reader.hpp"
#include "formats/old_ir/old_ir_file.hpp"

namespace headrace::detail {

// Lives for the conversion of one layer. Not thread-safe.
class OldIrContext : public Emitter {
 public:
  OldIrContext(ImportBuilder& import_builder, const OldIrLayer& layer, const WeightsBlob& weights,
               std::vector<PortRef> inputs)
      : builder_(import_builder), layer_(layer), weights_(weights), inputs_(std::move(inputs)) {}

  const OldIrLayer& layer() const { return layer_; }

  // Attributes under the first of their names that the file has; names changed between versions. Throw kBadModel where
  // the text is of another kind. get_int() takes "1.0" too: some writers made floats of all numbers.
  using Names = std::initializer_list<std::string_view>;
  const std::string* find(Names names) const;
  bool has(Names names) const { return find(names) != nullptr; }
  std::int64_t get_int(Names names, std::int64_t fallback) const;
  double get_float(Names names, double fallback) const;
  bool get_bool(Names names, bool fallback) const;
  std::string get_string(Names names, std::string_view fallback) const;
  std::optional<Ints> get_ints(Names names) const;
  std::vector<double> get_floats(Names names) const;

  std::size_t count_inputs() const { return inputs_.size(); }
  PortRef input(std::size_t index = 0) const;
  const std::vector<PortRef>& inputs() const { return inputs_; }
  std::size_t count_outputs() const { return layer_.outputs.size(); }
  // What the file says of an output. Throws kBadModel where it lacks it.
  const Shape& output_shape(std::size_t index = 0) const;

  // Weights: "weights", "biases", "custom", .... Halves become f32 constants through a Convert that marks them as
  // compressed. Throws kBadModel where the bytes are not in the .bin or not as many as the shape has.
  bool has_blob(std::string_view name) const { return layer_.blobs.find(name) != layer_.blobs.end(); }
  std::int64_t count_values(std::string_view name) const;
  PortRef blob(std::string_view name, const Shape& shape);
  // A blob as it is stored, of the element type that the file says.
  Tensor stored_blob(std::string_view name, const Shape& shape) const;

 private:
  ImportBuilder& builder() const override { return builder_; }
  const OldIrBlob& at_blob(std::string_view name) const;

  ImportBuilder& builder_;
  const OldIrLayer& layer_;
  const WeightsBlob& weights_;
  std::vector<PortRef> inputs_;
};

// Bytes of the .bin as a tensor. Throws kBadModel.
Tensor read_old_ir_blob(const OldIrBlob& blob, const Shape& shape, const WeightsBlob& weights);

// The element type of an old precision. Throws kUnsupported with the file's own word.
ElementType old_ir_type(const std::string& precision);

using OldIrConvert = std::vector<PortRef> (*)(OldIrContext& context);

struct OldIrConverter {
  std::string_view type;  // types are compared without regard to case
  OldIrConvert convert;
};

// Finds the converter of a type of layers; null where there is none. The table is written by the build from
// host/formats/old_ir/layers/*_old_ir.cpp.
const OldIrConverter* find_old_ir_converter(std::string_view type);

std::string lowercase(std::string_view text);

}  // namespace headrace::detail
