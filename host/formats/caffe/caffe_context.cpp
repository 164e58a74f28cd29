// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_context.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/converter_index.hpp"

namespace headrace::detail {

CaffeContext::CaffeContext(ImportBuilder& import_builder, const CaffeLayer& layer, const CaffeWeights& weights,
                           const std::unordered_set<std::string>& read, std::vector<PortRef> inputs)
    : builder_(import_builder), layer_(layer), weights_(weights), read_(read), inputs_(std::move(inputs)) {
  const auto found = weights.layers.find(layer.name);
  if (found != weights.layers.end()) blobs_ = &found->second;
}

const CaffeParams& CaffeContext::params(const std::string& name) {
  if (const auto known = params_.find(name); known != params_.end()) return known->second;
  const CaffeParams layer("the layer", layer_.text);
  return params_.emplace(name, layer.message(name)).first->second;
}

void CaffeContext::check_all_asked() const {
  for (const auto& [name, params] : params_) params.check_all_asked();
}

PortRef CaffeContext::input(std::size_t index) const {
  if (index < inputs_.size()) return inputs_[index];
  fail(ErrorCode::kBadModel,
       "needs bottom " + std::to_string(index) + ", has " + std::to_string(inputs_.size()) + " bottoms");
}

void CaffeContext::need_inputs(std::size_t least, std::size_t most) const {
  if (inputs_.size() >= least && inputs_.size() <= most) return;
  const std::string expected =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  fail(ErrorCode::kBadModel, "has " + std::to_string(inputs_.size()) + " bottoms, expected " + expected);
}

const CaffeBlob& CaffeContext::at_blob(std::size_t index) const {
  if (index < count_blobs()) return (*blobs_)[index];
  const std::string wanted = "needs weights (blob " + std::to_string(index) + "), ";
  if (!weights_.problem.empty()) fail(ErrorCode::kBadModel, wanted + "but " + weights_.problem);
  fail(ErrorCode::kBadModel,
       wanted + quote(weights_.file) + " has " + std::to_string(count_blobs()) + " blobs for this layer");
}

std::int64_t CaffeContext::count_values(std::size_t blob) const {
  return static_cast<std::int64_t>(detail::count_values(at_blob(blob)));
}

std::optional<Shape> CaffeContext::blob_shape(std::size_t blob) const {
  const auto& dims = at_blob(blob).shape;
  if (!dims) return std::nullopt;
  return checked_caffe_shape(*dims, "blob " + std::to_string(blob));
}

Tensor CaffeContext::blob(std::size_t blob, const Shape& shape) const {
  try {
    return read_blob(at_blob(blob), shape, weights_.owner);
  } catch (const Error& error) {
    rethrow_with_prefix(error, "blob " + std::to_string(blob));
  }
}

std::vector<std::span<const CaffeConverter>> caffe_converter_table();  // written by cmake/tables.cmake

const CaffeConverter* find_caffe_converter(std::string_view type) {
  static const auto kByType = index_converters(caffe_converter_table(), &CaffeConverter::type);
  return find_converter(kByType, type);
}

PortRef CaffeContext::add_input(std::size_t top, const PartialShape& shape) {
  return add_caffe_input(builder_, layer_.tops.at(top), shape);
}

PortRef add_caffe_input(ImportBuilder& builder, const std::string& name, const PartialShape& shape) {
  const PortRef ref = builder.add_parameter(name, ElementType::f32, shape);
  builder.add_knowledge(ref, ElementType::f32, shape, {});
  return ref;
}

std::size_t caffe_axis(const CaffeContext& c, std::int64_t axis) {
  return static_cast<std::size_t>(c.axis(axis, c.rank(c.input())));
}

}  // namespace headrace::detail
