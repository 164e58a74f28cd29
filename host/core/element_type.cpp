// SPDX-License-Identifier: Apache-2.0
#include "core/element_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <string>

namespace headrace {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::string_view precision;
  std::size_t size_bytes;
};

constexpr std::array<TypeRow, 13> kTypes = {{
    {ElementType::f32, "f32", "FP32", 4},
    {ElementType::f16, "f16", "FP16", 2},
    {ElementType::i8, "i8", "I8", 1},
    {ElementType::u8, "u8", "U8", 1},
    {ElementType::i32, "i32", "I32", 4},
    {ElementType::i64, "i64", "I64", 8},
    {ElementType::boolean, "boolean", "BOOL", 1},
    {ElementType::f64, "f64", "FP64", 8},
    {ElementType::bf16, "bf16", "BF16", 2},
    {ElementType::i16, "i16", "I16", 2},
    {ElementType::u16, "u16", "U16", 2},
    {ElementType::u32, "u32", "U32", 4},
    {ElementType::u64, "u64", "U64", 8},
}};

const TypeRow& row_of(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::string_view to_string(ElementType type) { return row_of(type).name; }
std::string_view precision_name(ElementType type) { return row_of(type).precision; }
std::size_t size_bytes(ElementType type) { return row_of(type).size_bytes; }

bool is_floating(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::f64 || type == ElementType::bf16;
}

ElementType computed_type(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::f64:
    case ElementType::bf16: return ElementType::f32;
    case ElementType::i16:
    case ElementType::u16: return ElementType::i32;
    case ElementType::u32:
    case ElementType::u64: return ElementType::i64;
    default: return type;
  }
}

std::optional<ElementType> find_element_type(std::string_view name) {
  const std::string wanted = lowered(name);
  for (const TypeRow& row : kTypes) {
    if (wanted == row.name || wanted == lowered(row.precision)) return row.type;
  }
  return std::nullopt;
}

float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // NaN stays one
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {  // a half denormal: let the float adder round to a multiple of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;  // ulp of 0.5 is 2^-24
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

}  // namespace headrace
