// SPDX-License-Identifier: Apache-2.0
// The element types that tensors store, with their names in IR and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

enum class ElementType : std::uint8_t { f32, f16, i8, u8, i32, i64, boolean, f64, bf16, i16, u16, u32, u64 };

// Returns the name as IR's element_type attribute writes it ("f32", "boolean").
std::string_view to_string(ElementType type);

// Finds a type by its IR name, either spelling: element_type ("f32") or port precision ("FP32"); case does not
// matter. Returns nothing for a type that Headrace does not store (u4, f8e4m3, string, ...).
std::optional<ElementType> find_element_type(std::string_view name);

// Returns the name as IR's port precision writes it ("FP32", "BOOL").
std::string_view precision_name(ElementType type);

std::size_t size_bytes(ElementType type);

// f32, f16, f64 and bf16.
bool is_floating(ElementType type);

// The type that operators compute with in place of one that is only stored: f32 for the floating ones, i32 for i16 and
// u16, i64 for u32 and u64 (whose values from 2^63 on are out of its range); the others' own.
ElementType computed_type(ElementType type);
inline bool is_computed_type(ElementType type) { return computed_type(type) == type; }

// Conversions between IEEE half bits and float; to_half rounds to nearest even, keeps NaN, denormals and infinities.
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);
// The same for bfloat16, the upper half of a float.
float bfloat16_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);

}  // namespace headrace
