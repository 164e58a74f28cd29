// SPDX-License-Identifier: Apache-2.0
#include "core/permute.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace headrace {

// Copies elements of `width` bytes, the result's last axis in the inner loop.
Tensor permuted(const Tensor& x, std::span<const std::int64_t> order) {
  std::vector<char> is_taken(x.shape().size(), 0);
  for (const std::int64_t axis : order) {
    const bool is_new = axis >= 0 && axis < static_cast<std::int64_t>(is_taken.size()) &&
                        std::exchange(is_taken[static_cast<std::size_t>(axis)], 1) == 0;
    check(is_new && order.size() == is_taken.size(), ErrorCode::kInvalidArgument,
          "the order of axes is no permutation of those of " + to_string(x.shape()));
  }
  if (order.empty()) return x.clone();
  const auto strides = row_major_strides(x.shape());
  Shape shape;
  std::vector<std::int64_t> steps;
  for (const std::int64_t axis : order) {
    shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
    steps.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  Tensor result(x.type(), shape);
  if (result.count() == 0) return result;
  const std::size_t width = size_bytes(x.type());
  std::byte* to = result.mutable_data();
  const std::byte* const from = x.data();
  const std::size_t last = shape.size() - 1;
  std::vector<std::int64_t> place(shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t row = 0; row < result.count() / shape[last]; ++row) {
    for (std::int64_t i = 0; i < shape[last]; ++i, to += width) {
      std::memcpy(to, from + static_cast<std::size_t>(offset + i * steps[last]) * width, width);
    }
    for (std::size_t axis = last; axis-- > 0;) {
      offset += steps[axis];
      if (++place[axis] < shape[axis]) break;
      offset -= steps[axis] * shape[axis];
      place[axis] = 0;
    }
  }
  return result;
}

}  // namespace headrace
