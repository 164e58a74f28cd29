// SPDX-License-Identifier: Apache-2.0
// Python's slice arithmetic, shared by Slice and StridedSlice.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headrace {

struct SliceRange {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

// Returns which elements of an axis the slice start:stop:step takes. Negative start and stop count from the end, both
// are then clamped; step is not 0. An empty slice starts at 0. No value overflows.
inline SliceRange python_slice(std::int64_t size, std::int64_t start, std::int64_t stop, std::int64_t step) {
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? size : size - 1;
  const auto place = [&](std::int64_t index) { return std::clamp(index < 0 ? index + size : index, low, high); };
  const std::int64_t first = place(start);
  const std::int64_t span = step > 0 ? place(stop) - first : first - place(stop);
  if (span <= 0) return {0, 1, 0};
  // span <= size, so a step beyond it takes one element; the bound also keeps -step from overflowing.
  const std::int64_t bounded = std::clamp(step, -size, size);
  const std::int64_t width = bounded > 0 ? bounded : -bounded;
  return {first, bounded, (span - 1) / width + 1};
}

}  // namespace headrace
