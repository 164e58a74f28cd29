// SPDX-License-Identifier: Apache-2.0
// What a converter gets: one Caffe layer with typed access to its parameters, bottoms and weights.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/caffe/caffe_net.hpp"
#include "formats/caffe/caffe_params.hpp"
#include "formats/caffe/caffe_weights.hpp"
#include "formats/import/emitter.hpp"

namespace headrace::detail {

// Lives for the conversion of one layer. Not thread-safe.
class CaffeContext : public Emitter {
 public:
  // `read` are the names of blobs that some layer reads.
  CaffeContext(ImportBuilder& import_builder, const CaffeLayer& layer, const CaffeWeights& weights,
               const std::unordered_set<std::string>& read, std::vector<PortRef> inputs);

  const CaffeLayer& layer() const { return layer_; }

  // A message of the layer, say "pooling_param". The reader asks afterwards that each of its fields was asked for.
  const CaffeParams& params(const std::string& name);
  void check_all_asked() const;

  // Bottoms by position. input() throws kBadModel where there is none.
  std::size_t count_inputs() const { return inputs_.size(); }
  PortRef input(std::size_t index = 0) const;
  const std::vector<PortRef>& inputs() const { return inputs_; }
  // Throws kBadModel where the layer has another number of bottoms.
  void need_inputs(std::size_t count) const { need_inputs(count, count); }
  void need_inputs(std::size_t least, std::size_t most) const;
  std::size_t count_outputs() const { return layer_.tops.size(); }

  // Makes a top an input of the network.
  PortRef add_input(std::size_t top, const PartialShape& shape);
  // Whether a layer reads the top. A converter may return PortRef{} for one that none reads.
  bool is_read(std::size_t top) const { return read_.count(layer_.tops[top]) != 0; }

  // Weights: what the .caffemodel has for the layer. Throw kBadModel where it lacks them or the counts do not fit.
  std::size_t count_blobs() const { return blobs_ == nullptr ? 0 : blobs_->size(); }
  std::int64_t count_values(std::size_t blob) const;
  // The shape in the file, absent in files that give none. Versions before 2014 write four numbers.
  std::optional<Shape> blob_shape(std::size_t blob) const;
  Tensor blob(std::size_t blob, const Shape& shape) const;
  PortRef blob_constant(std::size_t index, const Shape& shape) { return constant(blob(index, shape)); }

 private:
  ImportBuilder& builder() const override { return builder_; }
  const CaffeBlob& at_blob(std::size_t index) const;

  ImportBuilder& builder_;
  const CaffeLayer& layer_;
  const CaffeWeights& weights_;
  const std::unordered_set<std::string>& read_;
  const std::vector<CaffeBlob>* blobs_ = nullptr;
  std::vector<PortRef> inputs_;
  std::map<std::string, CaffeParams> params_;
};

// Converts one layer and returns its tops.
using CaffeConvert = std::vector<PortRef> (*)(CaffeContext& context);

struct CaffeConverter {
  std::string_view type;
  CaffeConvert convert;
};

// Finds the converter of a type of layers; null where there is none. The table is written by the build from
// host/formats/caffe/layers/*_caffe.cpp.
const CaffeConverter* find_caffe_converter(std::string_view type);

// Makes an input of f32.
PortRef add_caffe_input(ImportBuilder& builder, const std::string& name, const PartialShape& shape);

// axis in [0, rank) of the first bottom, whose rank must be known.
std::size_t caffe_axis(const CaffeContext& c, std::int64_t axis);

}  // namespace headrace::detail
