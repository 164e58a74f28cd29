// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_constant.hpp"

#include <charconv>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

void check_bounds(const PartialShape& shape) {
  if (shape.dims.size() > kMaxFileRank) {
    fail(ErrorCode::kBadModel, "shape has " + std::to_string(shape.dims.size()) + " dimensions, the limit is " +
                                   std::to_string(kMaxFileRank));
  }
  Shape smallest;
  for (const Dimension& dim : shape.dims) smallest.push_back(dim.min);
  if (!is_countable(smallest)) fail(ErrorCode::kBadModel, "shape " + to_string(shape) + " has more than 2^63 bytes");
}

std::uint64_t byte_attribute(const IrLayer& layer, std::string_view name) {
  const auto found = layer.data.find(name);
  if (found == layer.data.end()) fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' is missing");
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::kBadModel,
         "attribute '" + std::string(name) + "' is " + quote(text) + ", expected a number of bytes");
  }
  return value;
}

// Returns the slice of the blob. The sum offset + size may wrap round, so neither is added.
std::span<const std::byte> slice(const WeightsBlob& weights, std::uint64_t offset, std::uint64_t size) {
  const std::string wanted = "needs " + std::to_string(size) + " bytes at offset " + std::to_string(offset) + " of " +
                             quote(weights.name) + ", ";
  if (!weights.problem.empty()) fail(ErrorCode::kBadModel, wanted + "but " + weights.problem);
  if (size > weights.bytes.size() || offset > weights.bytes.size() - size) {
    fail(ErrorCode::kBadModel, wanted + "the file has " + std::to_string(weights.bytes.size()) + " bytes");
  }
  return weights.bytes.subspan(offset, size);
}

}  // namespace

std::string declared_type(const IrLayer& layer) {
  if (const auto found = layer.data.find("element_type"); found != layer.data.end()) return found->second;
  if (!layer.outputs.empty() && !layer.outputs[0].precision.empty()) return layer.outputs[0].precision;
  return layer.precision;
}

PartialShape declared_shape(const IrLayer& layer) {
  PartialShape shape;
  if (const auto found = layer.data.find("shape"); found != layer.data.end()) {
    try {
      shape = parse_partial_shape(found->second.substr(0, 1000));
    } catch (const Error& error) {
      fail(ErrorCode::kBadModel, error.what());
    }
  } else if (!layer.outputs.empty()) {
    for (const std::int64_t dim : layer.outputs[0].dims) {
      if (dim < -1) fail(ErrorCode::kBadModel, "<dim> is " + std::to_string(dim));
      shape.dims.push_back(dim == -1 ? Dimension{} : Dimension{dim, dim});
    }
  } else {
    fail(ErrorCode::kBadModel, "attribute 'shape' is missing");
  }
  check_bounds(shape);
  return shape;
}

Tensor read_constant(const IrLayer& layer, const WeightsBlob& weights) {
  const std::optional<ElementType> type = find_element_type(declared_type(layer));
  if (!type) fail(ErrorCode::kBadModel, "attribute 'element_type' is missing");
  const PartialShape partial = declared_shape(layer);
  if (!partial.is_static()) fail(ErrorCode::kBadModel, "constant of dynamic shape " + to_string(partial));
  const Shape shape = partial.to_shape();
  const std::uint64_t offset = byte_attribute(layer, "offset");
  const std::uint64_t size = byte_attribute(layer, "size");
  const auto wanted = static_cast<std::uint64_t>(count_elems(shape)) * size_bytes(*type);
  if (size < wanted) {
    fail(ErrorCode::kBadModel, "size is " + std::to_string(size) + ", but shape " + to_string(shape) + " of " +
                                   std::string(to_string(*type)) + " has " + std::to_string(wanted) + " bytes");
  }
  if (wanted == 0) return Tensor(*type, shape);
  const std::span<const std::byte> bytes = slice(weights, offset, size);
  return value_of_stored(Tensor(*type, shape, weights.owner, bytes.data()));
}

}  // namespace headrace::detail
