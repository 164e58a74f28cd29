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

bool is_double(const TensorflowTensor& tensor) {
  return static_cast<TensorflowType>(tensor.type) == TensorflowType::kDouble;
}

Shape checked_shape(const TensorflowTensor& tensor) {
  const Shape& dims = tensor.shape.dims;
  if (tensor.shape.is_rank_unknown || dims.size() > kMaxFileRank || !is_countable(dims)) {
    fail(ErrorCode::kBadModel,
         "its value has the impossible shape " +
             (dims.size() > kMaxFileRank ? "of rank " + std::to_string(dims.size()) : to_string(dims)));
  }
  return dims;
}

Tensor from_doubles(std::span<const std::byte> bytes, const Shape& shape) {
  Tensor result(ElementType::f32, shape);
  const std::span<float> to = result.mutable_values<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t k = 8; k-- > 0;) bits = bits << 8 | static_cast<std::uint64_t>(bytes[8 * i + k]);
    to[i] = static_cast<float>(std::bit_cast<double>(bits));
  }
  return result;
}

Tensor from_content(const TensorflowTensor& tensor, ElementType type, const Shape& shape,
                    const std::shared_ptr<const void>& owner) {
  const std::size_t width = is_double(tensor) ? 8 : size_bytes(type);
  const auto count = static_cast<std::size_t>(count_elems(shape));
  if (tensor.content.size() % width != 0 || tensor.content.size() / width != count) {
    fail(ErrorCode::kBadModel, "its value has " + std::to_string(tensor.content.size()) + " bytes, but shape " +
                                   to_string(shape) + " of " + tensorflow_type_name(tensor.type) + " needs " +
                                   std::to_string(count) + " x " + std::to_string(width));
  }
  if (is_double(tensor)) return from_doubles(tensor.content, shape);
  Tensor value = value_of_stored(Tensor(type, shape, owner, tensor.content.data()));
  if (value.data() != tensor.content.data()) drop_file_pages(tensor.content);
  return value;
}

// The values of float_val (5), double_val (6), int_val (7), int64_val (10), bool_val (11) or half_val (13).
struct TypedValues {
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::size_t size() const { return std::max(floats.size(), ints.size()); }
};

void append_doubles(WireFields& fields, std::vector<float>& values) {
  std::vector<double> doubles;
  fields.append_doubles(doubles);
  for (const double value : doubles) values.push_back(static_cast<float>(value));
}

TypedValues typed_values(const TensorflowTensor& tensor) {
  int field = 7;
  switch (static_cast<TensorflowType>(tensor.type)) {
    case TensorflowType::kFloat: field = 5; break;
    case TensorflowType::kDouble: field = 6; break;
    case TensorflowType::kInt64: field = 10; break;
    case TensorflowType::kBool: field = 11; break;
    case TensorflowType::kHalf: field = 13; break;
    default: break;
  }
  TypedValues values;
  for (WireFields fields(tensor.message, "TensorProto"); fields.next();) {
    if (fields.number() != field) continue;
    if (field == 5) {
      fields.append_floats(values.floats);
    } else if (field == 6) {
      append_doubles(fields, values.floats);
    } else {
      fields.append_int64s(values.ints);
    }
  }
  return values;
}

template <typename T, typename From>
void fill(const std::vector<From>& values, Tensor& tensor) {
  const std::span<T> to = tensor.mutable_values<T>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(values[std::min(i, values.size() - 1)]);
}

Tensor from_typed_fields(const TensorflowTensor& tensor, ElementType type, const Shape& shape, std::int64_t& fillable) {
  const TypedValues values = typed_values(tensor);
  const auto count = count_elems(shape);
  if (static_cast<std::int64_t>(values.size()) > count) {
    fail(ErrorCode::kBadModel, "its value has " + std::to_string(values.size()) + " elements, but shape " +
                                   to_string(shape) + " has " + std::to_string(count));
  }
  if (count > static_cast<std::int64_t>(tensor.message.size())) {
    if (count > fillable) {
      fail(ErrorCode::kUnsupported, "one value for a shape of " + std::to_string(count) + " elements, " +
                                        std::to_string(fillable) + " are left of what a model of this size may fill");
    }
    fillable -= count;
  }
  Tensor result(type, shape);  // zeros
  if (values.size() == 0) return result;
  switch (type) {
    case ElementType::f32: fill<float>(values.floats, result); break;
    case ElementType::i64: fill<std::int64_t>(values.ints, result); break;
    case ElementType::i32: fill<std::int32_t>(values.ints, result); break;
    case ElementType::i8: fill<std::int8_t>(values.ints, result); break;
    case ElementType::u8: fill<std::uint8_t>(values.ints, result); break;
    case ElementType::f16: fill<std::uint16_t>(values.ints, result); break;  // the bits
    case ElementType::boolean: fill<bool>(values.ints, result); break;
    default: fail(ErrorCode::kInternal, "no typed field for the element type");
  }
  return result;
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
    default: break;
  }
  fail(ErrorCode::kUnsupported, "element type " + tensorflow_type_name(type));
}

Tensor read_tensorflow_tensor(const TensorflowTensor& tensor, const std::shared_ptr<const void>& owner,
                              std::int64_t& fillable) {
  const ElementType type = is_double(tensor) ? ElementType::f32 : tensorflow_element_type(tensor.type);
  const Shape shape = checked_shape(tensor);
  if (!tensor.content.empty()) return from_content(tensor, type, shape, owner);
  return from_typed_fields(tensor, type, shape, fillable);
}

}  // namespace headrace::detail
