// SPDX-License-Identifier: Apache-2.0
// Checks of inputs that many operators share; each throws kBadModel naming the operator and what it got.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ops/descriptor.hpp"

namespace headrace {

// Input `index`, called `what` in the message, holds i32 or i64.
void check_index_type(const Node& node, std::span<const InferInput> inputs, std::size_t index, std::string_view what);

// Input `index` holds f32 or f16.
void check_float_type(const Node& node, std::span<const InferInput> inputs, std::size_t index, std::string_view what);

// The inputs hold one element type.
void check_same_types(const Node& node, std::span<const InferInput> inputs, std::initializer_list<std::size_t> indices);

void check_rank(const Node& node, const Shape& shape, std::size_t rank, std::string_view what);

// `shape`, called `what` in the message, is `expected`.
void check_shape(const Node& node, const Shape& shape, const Shape& expected, std::string_view what);

// Maps an index that may count from the end to [0, size). Throws kInvalidArgument naming the operator and the place in
// the list of indices: what it reads is known in the run only.
std::int64_t checked_index(const Node& node, std::int64_t index, std::int64_t size, std::int64_t place);

// The product of dims[first] ... dims[last - 1].
std::int64_t count_between(const Shape& shape, std::size_t first, std::size_t last);

}  // namespace headrace
