// SPDX-License-Identifier: Apache-2.0
// f16 in bulk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

// half_to_float for `count` values; `from` may be unaligned. On all cores where there are many.
void halves_to_floats(const std::byte* from, float* to, std::int64_t count);

}  // namespace headrace
