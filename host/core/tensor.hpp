// SPDX-License-Identifier: Apache-2.0
// A typed, dense, row-major block of host memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/element_type.hpp"
#include "core/error.hpp"
#include "core/shape.hpp"

namespace headrace {

// Every block that Headrace allocates starts at a multiple of this: what OpenCL CPU runtimes need to use host memory
// in place with wide vectors (PoCL: 128 bytes).
inline constexpr std::size_t kMemoryAlignment = 128;

// C++ type -> ElementType, for checked access.
template <typename T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<float> {
  static constexpr ElementType value = ElementType::f32;
};
template <>
struct ElementTypeOf<std::uint16_t> {
  static constexpr ElementType value = ElementType::f16;
};
template <>
struct ElementTypeOf<std::int8_t> {
  static constexpr ElementType value = ElementType::i8;
};
template <>
struct ElementTypeOf<std::uint8_t> {
  static constexpr ElementType value = ElementType::u8;
};
template <>
struct ElementTypeOf<std::int32_t> {
  static constexpr ElementType value = ElementType::i32;
};
template <>
struct ElementTypeOf<std::int64_t> {
  static constexpr ElementType value = ElementType::i64;
};
template <>
struct ElementTypeOf<double> {
  static constexpr ElementType value = ElementType::f64;
};
template <>
struct ElementTypeOf<bool> {
  static constexpr ElementType value = ElementType::boolean;
};

// Copies of a Tensor share the memory. Several threads may read one Tensor; writing needs outside order.
class Tensor {
 public:
  // An empty f32 tensor of shape [0].
  Tensor() = default;

  // Owns zero-filled memory aligned to kMemoryAlignment. Throws kOutOfMemory or kInvalidArgument (size overflow).
  Tensor(ElementType type, Shape shape);

  // Borrows the caller's memory, which must outlive every copy of this tensor.
  Tensor(ElementType type, Shape shape, void* data);

  // Shares read-only memory (a mapped file) that the owner keeps alive. The data may be unaligned. kMemoryAlignment
  // readable bytes follow it.
  Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const void* data);

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return count_; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(count_) * headrace::size_bytes(type_); }

  const std::byte* data() const { return data_; }
  // Throws kInternal where the memory is read-only.
  std::byte* mutable_data();
  bool is_read_only() const { return is_read_only_; }
  // Whether the data starts at a multiple of kMemoryAlignment.
  bool is_aligned() const;
  // Whether kMemoryAlignment bytes behind the data can be read: vector loads at the end stay inside the memory.
  // Nothing is known of memory that is borrowed.
  bool has_slack() const { return owner_ != nullptr; }

  // Elements as T. Throws kInternal on another type. The data must be aligned for T (see aligned_copy).
  template <typename T>
  std::span<const T> values() const {
    HEADRACE_ASSERT(ElementTypeOf<T>::value == type_, "tensor read as another element type");
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(count_)};
  }
  template <typename T>
  std::span<T> mutable_values() {
    HEADRACE_ASSERT(ElementTypeOf<T>::value == type_, "tensor written as another element type");
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(count_)};
  }

  // Shares the memory under another shape with as many elements. Throws kInvalidArgument.
  Tensor reshaped(Shape shape) const;
  // Returns a deep copy in memory of its own.
  Tensor clone() const;
  // Returns this tensor where its data is aligned for its type, else a clone.
  Tensor aligned_copy() const;

 private:
  ElementType type_ = ElementType::f32;
  Shape shape_{0};
  std::int64_t count_ = 0;
  std::shared_ptr<const void> owner_;
  std::byte* data_ = nullptr;
  bool is_read_only_ = false;
};

// Returns the value of a tensor that lies as model files store it: unaligned perhaps, little-endian on every host, any
// byte for a boolean. Shares the memory where that is a value as it is, else copies.
Tensor value_of_stored(const Tensor& stored);

// Copies a tensor into a new one of another element type: float to integer truncates and saturates, NaN becomes 0,
// anything to boolean is "not zero".
Tensor convert(const Tensor& source, ElementType type);

// Element values as int64 or double, whatever the stored type.
std::vector<std::int64_t> to_int64s(const Tensor& tensor);
std::vector<double> to_doubles(const Tensor& tensor);

// Builds small tensors from values.
Tensor make_i64_tensor(const Shape& shape, std::span<const std::int64_t> values);
Tensor make_f32_tensor(const Shape& shape, std::span<const float> values);

}  // namespace headrace
