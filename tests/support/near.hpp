// SPDX-License-Identifier: Apache-2.0
// Compares floats one by one.
#pragma once

#include <gmock/gmock.h>

#include <vector>

namespace headrace::test {

// A vector of as many floats, each within 1e-5.
MATCHER_P(Near, values, "") {
  return ::testing::ExplainMatchResult(::testing::Pointwise(::testing::FloatNear(1e-5F), std::vector<float>(values)),
                                       arg, result_listener);
}

}  // namespace headrace::test
