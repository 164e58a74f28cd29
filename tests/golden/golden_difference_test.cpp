// SPDX-License-Identifier: Apache-2.0
// The comparison itself: a golden test is worth what this refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "golden/golden.hpp"

namespace headrace::test {
namespace {

using ::testing::HasSubstr;
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> values) { return make_f32_tensor({static_cast<std::int64_t>(values.size())}, values); }

TEST(GoldenDifferenceTest, AcceptsWhatIsCloseAndNothingElse) {
  EXPECT_EQ(difference(floats({1, 100}), floats({1.009F, 100}), 1e-4), "");
  EXPECT_THAT(difference(floats({1, 100}), floats({1.02F, 100}), 1e-4), HasSubstr("element 0"));
  EXPECT_THAT(difference(floats({0.01F}), floats({0.0102F}), 1e-4), HasSubstr("expected 0.01"));
}

TEST(GoldenDifferenceTest, NanAndInfinityMustMatch) {
  EXPECT_EQ(difference(floats({NAN, kInf, -kInf}), floats({NAN, kInf, -kInf}), 1e-4), "");
  EXPECT_NE(difference(floats({1}), floats({NAN}), 1e-4), "");
  EXPECT_NE(difference(floats({NAN}), floats({1}), 1e-4), "");
  EXPECT_NE(difference(floats({kInf}), floats({NAN}), 1e-4), "");
  EXPECT_NE(difference(floats({kInf}), floats({-kInf}), 1e-4), "");
  EXPECT_NE(difference(floats({kInf}), floats({1e38F}), 1e-4), "");
}

TEST(GoldenDifferenceTest, TypesShapesAndIntegersMustBeEqual) {
  EXPECT_THAT(difference(floats({1}), make_i64_tensor({1}, std::vector<std::int64_t>{1}), 1), HasSubstr("type is i64"));
  EXPECT_THAT(difference(floats({1}), floats({1}).reshaped({1, 1}), 1), HasSubstr("shape is [1,1]"));
  const auto ints = [](std::int64_t value) { return make_i64_tensor({1}, std::vector<std::int64_t>{value}); };
  EXPECT_NE(difference(ints(100000), ints(100001), 1e-4), "");
}

}  // namespace
}  // namespace headrace::test
