// SPDX-License-Identifier: Apache-2.0
// How far two tensors are apart.
#pragma once

#include <cstdint>
#include <string>

#include "core/tensor.hpp"

namespace headrace {

struct TensorDifference {
  double max_abs = 0.0;     // over elements that are finite in both
  double relative = 0.0;    // max_abs over the largest finite |expected|, or over 1 where that is smaller
  double cosine = 1.0;      // of the angle between both as vectors; 1 where both are zero, 0 where one of them is
  std::int64_t worst = -1;  // index of the element of max_abs
  std::int64_t nan_actual = 0;
  std::int64_t nan_expected = 0;
  std::int64_t mismatched = 0;  // elements that are NaN or infinite in one, and not the same in the other
  std::string problem;          // where types or shapes differ; the rest is then meaningless

  // Same shape, NaN and infinities in the same places, relative at most the tolerance.
  bool is_close(double tolerance) const { return problem.empty() && mismatched == 0 && relative <= tolerance; }
};

TensorDifference compare_tensors(const Tensor& actual, const Tensor& expected);

}  // namespace headrace
