// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/wire_fields.hpp"

namespace headrace::detail {
namespace {

Shape checked_shape(const TensorflowTensor& tensor) {
  const Shape& dims = tensor.shape.dims;
  if (tensor.shape.is_rank_unknown || dims.size() > kMaxFileRank || !is_countable(dims)) {
    fail(ErrorCode::kBadModel,
         "its value has the impossible shape " +
             (dims.size() > kMaxFileRank ? "of rank " + std::to_string(dims.size()) : to_string(dims)));
  }
  return dims;
}

Tensor from_content(const TensorflowTensor& tensor, ElementType type, const Shape& shape,
                    const std::shared_ptr<const void>& owner) {
  const std::size_t width = size_bytes(type);
  const auto count = static_cast<std::size_t>(count_elems(shape));
  if (tensor.content.size() % width != 0 || tensor.content.size() / width != count) {
    fail(ErrorCode::kBadModel, "its value has " + std::to_string(tensor.content.size()) + " bytes, but shape " +
                                   to_string(shape) + " of " + tensorflow_type_name(tensor.type) + " needs " +
                                   std::to_string(count) + " x " + std::to_string(width));
  }
  Tensor value = value_of_stored(Tensor(type, shape, owner, tensor.content.data()));
  if (value.data() != tensor.content.data()) drop_file_pages(tensor.content);
  return value;
}

// The field of a type's values: float_val, double_val, int_val, int64_val, bool_val, half_val, uint32_val, uint64_val.
int field_of(std::int32_t type) {
  switch (static_cast<TensorflowType>(type)) {
    case TensorflowType::kFloat: return 5;
    case TensorflowType::kDouble: return 6;
    case TensorflowType::kInt64: return 10;
    case TensorflowType::kBool: return 11;
    case TensorflowType::kHalf:
    case TensorflowType::kBfloat16: return 13;
    case TensorflowType::kUint32: return 16;
    case TensorflowType::kUint64: return 17;
    default: return 7;
  }
}

// The values of a repeated field as their own type stores them, one behind the other.
std::vector<std::byte> stored_values(const TensorflowTensor& tensor, ElementType type) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers;  // and the bits of short floats, of which each value's low bytes count
  const int field = field_of(tensor.type);
  for (WireFields fields(tensor.message, "TensorProto"); fields.next();) {
    if (fields.number() != field) continue;
    if (field == 5) {
      fields.append_floats(floats);
    } else if (field == 6) {
      fields.append_doubles(doubles);
    } else {
      fields.append_int64s(integers);
    }
  }
  for (const float value : floats) integers.push_back(std::bit_cast<std::int32_t>(value));
  for (const double value : doubles) integers.push_back(std::bit_cast<std::int64_t>(value));
  std::vector<std::byte> bytes;
  bytes.reserve(integers.size() * size_bytes(type));
  for (const std::int64_t value : integers) {
    for (std::size_t i = 0; i < size_bytes(type); ++i) {
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
  }
  return bytes;
}

Tensor from_typed_fields(const TensorflowTensor& tensor, ElementType type, const Shape& shape, std::int64_t& fillable) {
  const std::size_t width = size_bytes(type);
  const std::vector<std::byte> values = stored_values(tensor, type);
  const std::size_t given = values.size() / width;
  const auto count = static_cast<std::size_t>(count_elems(shape));
  if (given > count) {
    fail(ErrorCode::kBadModel, "its value has " + std::to_string(given) + " elements, but shape " + to_string(shape) +
                                   " has " + std::to_string(count));
  }
  if (count > tensor.message.size()) {
    if (count > static_cast<std::size_t>(fillable)) {
      fail(ErrorCode::kUnsupported, "one value for a shape of " + std::to_string(count) + " elements, " +
                                        std::to_string(fillable) + " are left of what a model of this size may fill");
    }
    fillable -= static_cast<std::int64_t>(count);
  }
  Tensor result(type, shape);  // zeros
  if (given == 0) return result;
  std::byte* to = result.mutable_data();
  for (std::size_t i = 0; i < count; ++i, to += width) {
    std::memcpy(to, values.data() + std::min(i, given - 1) * width, width);
  }
  return value_of_stored(result);
}

}  // namespace

ElementType tensorflow_element_type(std::int32_t type) {
  switch (static_cast<TensorflowType>(type)) {
    case TensorflowType::kFloat: return ElementType::f32;
    case TensorflowType::kHalf: return ElementType::f16;
    case TensorflowType::kInt8: return ElementType::i8;
    case TensorflowType::kUint8: return ElementType::u8;
    case TensorflowType::kInt32: return ElementType::i32;
    case TensorflowType::kInt64: return ElementType::i64;
    case TensorflowType::kBool: return ElementType::boolean;
    case TensorflowType::kDouble: return ElementType::f64;
    case TensorflowType::kBfloat16: return ElementType::bf16;
    case TensorflowType::kInt16: return ElementType::i16;
    case TensorflowType::kUint16: return ElementType::u16;
    case TensorflowType::kUint32: return ElementType::u32;
    case TensorflowType::kUint64: return ElementType::u64;
    default: break;
  }
  fail(ErrorCode::kUnsupported, "element type " + tensorflow_type_name(type));
}

Tensor read_tensorflow_tensor(const TensorflowTensor& tensor, const std::shared_ptr<const void>& owner,
                              std::int64_t& fillable) {
  const ElementType type = tensorflow_element_type(tensor.type);
  const Shape shape = checked_shape(tensor);
  if (!tensor.content.empty()) return from_content(tensor, type, shape, owner);
  return from_typed_fields(tensor, type, shape, fillable);
}

}  // namespace headrace::detail
