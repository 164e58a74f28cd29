// SPDX-License-Identifier: Apache-2.0
// Hand values for the operators that look along axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveFloatNear;
using ::testing::Pointwise;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void expect_values(const Tensor& tensor, const std::vector<float>& expected) {
  EXPECT_THAT(tensor.values<float>(), Pointwise(NanSensitiveFloatNear(1e-5F), expected));
}

Tensor reduced(const std::string& type, const Tensor& x, const std::vector<std::int64_t>& axes) {
  return run_op(type, {}, {x, ints(axes)})[0];
}

TEST(ReduceReferenceTest, ReducesFloats) {
  const Tensor x = floats({2, 3}, {1, -2, 3, 4, 5, -6});
  expect_values(reduced("ReduceSum", x, {1}), {2, 3});
  expect_values(reduced("ReduceSum", x, {0}), {5, 3, -3});
  expect_values(reduced("ReduceMean", x, {-1}), {2.0F / 3, 1});
  expect_values(reduced("ReduceMax", x, {1}), {3, 5});
  expect_values(reduced("ReduceMin", x, {1}), {-2, -6});
  expect_values(reduced("ReduceProd", x, {1}), {-6, -120});
  expect_values(reduced("ReduceL1", x, {0, 1}), {21});
  expect_values(reduced("ReduceL2", x, {1}), {std::sqrt(14.0F), std::sqrt(77.0F)});
  expect_values(reduced("ReduceSum", x, {}), {1, -2, 3, 4, 5, -6});
  expect_values(reduced("ReduceMax", floats({3}, {1, kNan, 2}), {0}), {kNan});
  expect_values(reduced("ReduceSum", floats({2, 0}, {}), {1}), {0, 0});
}

TEST(ReduceReferenceTest, KeepsDimensionsWhenAsked) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(run_op("ReduceSum", {{"keep_dims", "true"}}, {x, ints({0, -1})})[0].shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(run_op("ReduceSum", {}, {x, ints({0, -1})})[0].shape(), (Shape{3}));
  EXPECT_EQ(run_op("ReduceSum", {}, {x, int_scalar(1)})[0].shape(), (Shape{2, 4}));
  EXPECT_THAT(error_of("ReduceSum", {}, {x, ints({3})}), HasSubstr("axis 3"));
  EXPECT_THAT(error_of("ReduceSum", {}, {x, ints({1, -2})}), HasSubstr("twice"));
}

TEST(ReduceReferenceTest, ReducesIntegersAndBooleans) {
  const Tensor x = ints({-3, 4, -8});
  EXPECT_THAT(to_int64s(reduced("ReduceMean", x, {0})), ElementsAre(-2));
  EXPECT_THAT(to_int64s(reduced("ReduceL1", x, {0})), ElementsAre(15));
  EXPECT_THAT(to_int64s(reduced("ReduceProd", x, {0})), ElementsAre(96));
  const Tensor flags = convert(ints({1, 0, 1}), ElementType::boolean);
  EXPECT_THAT(to_int64s(reduced("ReduceLogicalAnd", flags, {0})), ElementsAre(0));
  EXPECT_THAT(to_int64s(reduced("ReduceLogicalOr", flags, {0})), ElementsAre(1));
}

// public-reports #14: sums are not kept in half.
TEST(ReduceReferenceTest, KeepsLongSums) {
  expect_values(reduced("ReduceMean", floats({1, 64, 64}, std::vector<float>(4096, 1.0F)), {1, 2}), {1});
  expect_values(reduced("ReduceMean", floats({1, 256, 256}, std::vector<float>(65536, 2.0F)), {1, 2}), {2});
}

}  // namespace
}  // namespace headrace::test
