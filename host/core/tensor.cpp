// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/half.hpp"

namespace headrace {
namespace {

// Bits of short floats need their own reading; every other stored type converts as C++ does.
struct Half {
  static float read(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t write(float value) { return float_to_half(value); }
};

struct BFloat16 {
  static float read(std::uint16_t bits) { return bfloat16_to_float(bits); }
  static std::uint16_t write(float value) { return float_to_bfloat16(value); }
};

template <typename T>
constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename Visitor>
decltype(auto) visit_type(ElementType type, Visitor&& visitor) {
  switch (type) {
    case ElementType::f32: return visitor(float{});
    case ElementType::f16: return visitor(Half{});
    case ElementType::i8: return visitor(std::int8_t{});
    case ElementType::u8: return visitor(std::uint8_t{});
    case ElementType::i32: return visitor(std::int32_t{});
    case ElementType::i64: return visitor(std::int64_t{});
    case ElementType::boolean: return visitor(bool{});
    case ElementType::f64: return visitor(double{});
    case ElementType::bf16: return visitor(BFloat16{});
    case ElementType::i16: return visitor(std::int16_t{});
    case ElementType::u16: return visitor(std::uint16_t{});
    case ElementType::u32: return visitor(std::uint32_t{});
    case ElementType::u64: return visitor(std::uint64_t{});
  }
  fail(ErrorCode::kInternal, "unknown element type");
}

template <typename T>
auto load(const std::byte* data, std::int64_t index) {
  if constexpr (kIsShortFloat<T>) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data + index * 2, 2);
    return T::read(bits);
  } else if constexpr (std::is_same_v<T, bool>) {
    return std::to_integer<std::uint8_t>(data[index]) != 0;
  } else {
    T value{};
    std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
}

template <typename To, typename From>
To saturated(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return To{};
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void convert_elems(const Tensor& source, Tensor& result) {
  std::byte* out = result.mutable_data();
  for (std::int64_t i = 0; i < source.count(); ++i) {
    const auto value = load<From>(source.data(), i);
    if constexpr (kIsShortFloat<To>) {
      const std::uint16_t bits = To::write(static_cast<float>(value));
      std::memcpy(out + i * 2, &bits, 2);
    } else {
      const To converted = saturated<To>(value);
      std::memcpy(out + i * static_cast<std::int64_t>(sizeof(To)), &converted, sizeof(To));
    }
  }
}

std::int64_t checked_count(ElementType type, const Shape& shape) {
  const std::int64_t count = count_elems(shape);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<std::int64_t>(size_bytes(type)), &bytes)) {
    fail(ErrorCode::kInvalidArgument, "tensor of shape " + to_string(shape) + " has more than 2^63 bytes");
  }
  return count;
}

Tensor with_host_order(Tensor tensor) {
  if constexpr (std::endian::native == std::endian::big) {
    Tensor copy = tensor.clone();
    const auto size = static_cast<std::ptrdiff_t>(size_bytes(copy.type()));
    std::byte* const end = copy.mutable_data() + copy.size_bytes();
    for (std::byte* element = copy.mutable_data(); element != end; element += size) {
      std::reverse(element, element + size);
    }
    return copy;
  }
  return tensor;
}

// A C++ bool holds 0 or 1; a file may hold any byte.
Tensor with_clean_flags(Tensor tensor) {
  const auto is_clean = [](std::byte b) { return b == std::byte{0} || b == std::byte{1}; };
  if (std::all_of(tensor.data(), tensor.data() + tensor.size_bytes(), is_clean)) return tensor;
  Tensor copy = tensor.clone();
  for (std::byte* b = copy.mutable_data(); b != copy.mutable_data() + copy.size_bytes(); ++b) {
    *b = std::byte{*b != std::byte{0}};
  }
  return copy;
}

}  // namespace

Tensor::Tensor(ElementType type, Shape shape)
    : type_(type), shape_(std::move(shape)), count_(checked_count(type_, shape_)) {
  // A whole vector past the end may be read by wide kernels that use this memory in place.
  const std::size_t bytes = size_bytes() + kMemoryAlignment;
  std::size_t space = bytes + kMemoryAlignment;
  // Not aligned_alloc: large blocks of calloc are zero as they come, and cost nothing before they are touched.
  void* const memory = std::calloc(space, 1);
  if (memory == nullptr) {
    fail(ErrorCode::kOutOfMemory,
         "no memory for a tensor of shape " + to_string(shape_) + ", " + std::to_string(space) + " bytes");
  }
  owner_ = std::shared_ptr<const void>(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  void* aligned = memory;
  data_ = static_cast<std::byte*>(std::align(kMemoryAlignment, bytes, aligned, space));
}

Tensor::Tensor(ElementType type, Shape shape, void* data)
    : type_(type),
      shape_(std::move(shape)),
      count_(checked_count(type_, shape_)),
      data_(static_cast<std::byte*>(data)) {}

Tensor::Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const void* data)
    : type_(type),
      shape_(std::move(shape)),
      count_(checked_count(type_, shape_)),
      owner_(std::move(owner)),
      data_(static_cast<std::byte*>(const_cast<void*>(data))),
      is_read_only_(true) {}

std::byte* Tensor::mutable_data() {
  HEADRACE_ASSERT(!is_read_only_, "write to a read-only tensor");
  return data_;
}

bool Tensor::is_aligned() const { return reinterpret_cast<std::uintptr_t>(data_) % kMemoryAlignment == 0; }

Tensor Tensor::reshaped(Shape shape) const {
  check(count_elems(shape) == count_, ErrorCode::kInvalidArgument,
        "cannot reshape " + to_string(shape_) + " to " + to_string(shape));
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result(type_, shape_);
  if (size_bytes() != 0) std::memcpy(result.data_, data_, size_bytes());
  return result;
}

Tensor Tensor::aligned_copy() const {
  const bool is_ok = reinterpret_cast<std::uintptr_t>(data_) % headrace::size_bytes(type_) == 0;
  return is_ok ? *this : clone();
}

Tensor value_of_stored(const Tensor& stored) {
  const Tensor aligned = stored.aligned_copy();
  return with_host_order(stored.type() == ElementType::boolean ? with_clean_flags(aligned) : aligned);
}

Tensor convert(const Tensor& source, ElementType type) {
  Tensor result(type, source.shape());
  if (source.type() == ElementType::f16 && type == ElementType::f32) {
    halves_to_floats(source.data(), result.mutable_values<float>().data(), source.count());
    return result;
  }
  visit_type(source.type(), [&](auto from) {
    visit_type(type, [&](auto to) { convert_elems<decltype(from), decltype(to)>(source, result); });
  });
  return result;
}

std::vector<std::int64_t> to_int64s(const Tensor& tensor) {
  const Tensor converted = convert(tensor, ElementType::i64);
  const auto values = converted.values<std::int64_t>();
  return {values.begin(), values.end()};
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  visit_type(tensor.type(), [&](auto type) {
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      values[static_cast<std::size_t>(i)] = static_cast<double>(load<decltype(type)>(tensor.data(), i));
    }
  });
  return values;
}

Tensor make_i64_tensor(const Shape& shape, std::span<const std::int64_t> values) {
  Tensor tensor(ElementType::i64, shape);
  HEADRACE_ASSERT(tensor.count() == static_cast<std::int64_t>(values.size()), "wrong number of values");
  std::copy(values.begin(), values.end(), tensor.mutable_values<std::int64_t>().begin());
  return tensor;
}

Tensor make_f32_tensor(const Shape& shape, std::span<const float> values) {
  Tensor tensor(ElementType::f32, shape);
  HEADRACE_ASSERT(tensor.count() == static_cast<std::int64_t>(values.size()), "wrong number of values");
  std::copy(values.begin(), values.end(), tensor.mutable_values<float>().begin());
  return tensor;
}

}  // namespace headrace
