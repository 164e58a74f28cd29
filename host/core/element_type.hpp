// SPDX-License-Identifier: Apache-2.0
// The element types that tensors store, with their names in IR and their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

enum class ElementType : std::uint8_t { f32, f16, i8, u8, i32, i64, boolean };

// Returns the name as IR's element_type attribute writes it ("f32", "boolean").
std::string_view to_string(ElementType type);

// Finds a type by its IR name, either spelling: element_type ("f32") or port precision ("FP32"); case does not
// matter. Returns nothing for a type that Headrace does not store (f64, u16, string, ...).
std::optional<ElementType> find_element_type(std::string_view name);

// Returns the name as IR's port precision writes it ("FP32", "BOOL").
std::string_view precision_name(ElementType type);

std::size_t size_bytes(ElementType type);

// f32 and f16.
bool is_floating(ElementType type);

// Conversions between IEEE half bits and float; to_half rounds to nearest even, keeps NaN, denormals and infinities.
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);

}  // namespace headrace
