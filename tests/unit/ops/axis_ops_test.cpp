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
constexpr float kInf = std::numeric_limits<float>::infinity();

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

// public-reports R2: the maximum is taken off first, and what infinities give is fixed.
TEST(SoftMaxReferenceTest, SurvivesLargeValues) {
  const RawAttributes last = {{"axis", "-1"}};
  expect_values(run_op("SoftMax", last, {floats({3}, {1000, 1000, -1000})}, 8)[0], {0.5F, 0.5F, 0});
  EXPECT_NEAR(run_op("SoftMax", last, {floats({5}, {8, 18, 28, 38, 48})}, 8)[0].values<float>()[4], 0.999955, 1e-6);
  expect_values(run_op("SoftMax", last, {floats({2}, {-kInf, -kInf})}, 8)[0], {kNan, kNan});
  expect_values(run_op("SoftMax", last, {floats({3}, {kInf, 1, 2})}, 8)[0], {kNan, kNan, kNan});
  expect_values(run_op("SoftMax", last, {floats({3}, {-kInf, 0, 0})}, 8)[0], {0, 0.5F, 0.5F});
  expect_values(run_op("SoftMax", last, {floats({2}, {kNan, 0})}, 8)[0], {kNan, kNan});
}

TEST(SoftMaxReferenceTest, TakesAnyAxis) {
  const float big = 0.7310586F;
  const float small = 0.2689414F;
  expect_values(run_op("SoftMax", {}, {floats({1, 2, 2}, {0, 1, 1, 0})})[0], {small, big, big, small});
  expect_values(run_op("SoftMax", {{"axis", "2"}}, {floats({1, 2, 2}, {0, 1, 0, 1})})[0], {small, big, small, big});
  expect_values(run_op("LogSoftmax", {}, {floats({2}, {0, 1})})[0], {-1.3132617F, -0.3132617F});
  EXPECT_THAT(error_of("SoftMax", {{"axis", "1"}}, {floats({2}, {0, 1})}), HasSubstr("axis 1"));
}

TEST(MvnReferenceTest, FollowsBothOpsets) {
  const Tensor x = floats({1, 2, 2, 2}, {1, 2, 3, 5, 0, 1, 0, 0});
  // OpenVINO 2026.4.1 gives the same for opset2.
  expect_values(run_op("MVN", {{"eps", "1"}, {"across_channels", "false"}}, {x}, 2)[0],
                {-0.9801961F, -0.4200841F, 0.1400280F, 1.2602521F, -0.2294157F, 0.6882472F, -0.2294157F, -0.2294157F});
  expect_values(
      run_op("MVN", {{"eps", "1e-9"}, {"across_channels", "true"}, {"normalize_variance", "false"}}, {x}, 2)[0],
      {-0.5F, 0.5F, 1.5F, 3.5F, -1.5F, -0.5F, -1.5F, -1.5F});
  const std::vector<Tensor> inputs = {floats({1, 4}, {1, 2, 3, 5}), ints({-1})};
  expect_values(run_op("MVN", {{"eps", "1"}, {"eps_mode", "outside_sqrt"}}, inputs, 6)[0],
                {-0.7059241F, -0.3025389F, 0.1008463F, 0.9076167F});
  expect_values(run_op("MVN", {{"eps", "1"}, {"eps_mode", "inside_sqrt"}}, inputs, 6)[0],
                {-0.9801961F, -0.4200841F, 0.1400280F, 1.2602521F});
}

TEST(NormalizeL2ReferenceTest, AddsOrTakesTheLargerEps) {
  const std::vector<Tensor> inputs = {floats({1, 3, 1, 1}, {1, 2, 3}), ints({1})};
  expect_values(run_op("NormalizeL2", {{"eps", "2"}, {"eps_mode", "add"}}, inputs)[0], {0.25F, 0.5F, 0.75F});
  expect_values(run_op("NormalizeL2", {{"eps", "100"}, {"eps_mode", "max"}}, inputs)[0], {0.1F, 0.2F, 0.3F});
  expect_values(run_op("NormalizeL2", {{"eps", "0"}, {"eps_mode", "max"}}, {inputs[0], ints({})})[0], {1, 1, 1});
}

TEST(GrnReferenceTest, NormalizesChannels) {
  expect_values(run_op("GRN", {{"bias", "2"}}, {floats({1, 3, 1, 1}, {1, 2, 3})})[0], {0.25F, 0.5F, 0.75F});
}

TEST(BatchNormReferenceTest, KnowsBothInputOrders) {
  const Tensor x = floats({1, 2, 2}, {1, 2, 3, 4});
  const Tensor gamma = floats({2}, {2, 3});
  const Tensor beta = floats({2}, {10, 20});
  const Tensor mean = floats({2}, {1, 3});
  const Tensor variance = floats({2}, {3, 0});
  const RawAttributes raw = {{"epsilon", "1"}};
  const std::vector<float> expected = {10, 11, 20, 23};
  expect_values(run_op("BatchNormInference", raw, {gamma, beta, x, mean, variance}, 1)[0], expected);
  expect_values(run_op("BatchNormInference", raw, {x, gamma, beta, mean, variance}, 5)[0], expected);
  EXPECT_THAT(error_of("BatchNormInference", raw, {x, gamma, beta, mean, variance}, 1),
              HasSubstr("BatchNormInference"));
}

// public-reports R5: alpha is divided by the size; an even size has no agreed meaning.
TEST(LrnReferenceTest, DividesAlphaBySizeAndRefusesEvenSizes) {
  const Tensor x = floats({1, 3, 1, 1}, {1, 2, 3});
  const RawAttributes odd = {{"alpha", "3"}, {"beta", "1"}, {"bias", "1"}, {"size", "3"}};
  expect_values(run_op("LRN", odd, {x, ints({1})})[0], {0.1666667F, 0.1333333F, 0.2142857F});
  const RawAttributes even = {{"alpha", "2"}, {"beta", "1"}, {"bias", "1"}, {"size", "2"}};
  EXPECT_THAT(error_of("LRN", even, {x, ints({1})}), HasSubstr("even size 2 is not supported"));
  // Two axes divide by the square of the size: OpenVINO 2026.4.1.
  const RawAttributes spatial = {{"alpha", "9"}, {"beta", "1"}, {"bias", "1"}, {"size", "3"}};
  expect_values(run_op("LRN", spatial, {counting({1, 1, 3, 3}, 1), ints({2, 3})})[0],
                {0.0212766F, 0.0217391F, 0.04F, 0.025F, 0.0174825F, 0.0272727F, 0.0451613F, 0.0294118F, 0.0434783F});
}

TEST(FakeQuantizeReferenceTest, RoundsToLevels) {
  const Tensor x = floats({8}, {-2, -1, -0.4F, 0.1F, 0.5F, 0.9F, 3, kNan});
  const auto scalar = [](float value) { return floats({}, {value}); };
  // OpenVINO 2026.4.1 gives the same (but for NaN, which it was not asked).
  expect_values(run_op("FakeQuantize", {{"levels", "5"}}, {x, scalar(-1), scalar(1), scalar(-2), scalar(2)})[0],
                {-2, -2, -1, 0, 1, 2, 2, kNan});
  const Tensor low = floats({2, 1}, {0, -1});
  const Tensor high = floats({2, 1}, {1, 1});
  expect_values(
      run_op("FakeQuantize", {{"levels", "2"}}, {floats({2, 2}, {0.4F, 0.6F, -0.1F, 0.1F}), low, high, low, high})[0],
      {0, 1, -1, 1});
  EXPECT_THAT(error_of("FakeQuantize", {{"levels", "1"}}, {x, scalar(0), scalar(1), scalar(0), scalar(1)}),
              HasSubstr("'levels' is 1"));
  EXPECT_THAT(error_of("FakeQuantize", {{"levels", "5"}}, {scalar(0), x, x, x, x}), HasSubstr("range of shape [8]"));
}

}  // namespace
}  // namespace headrace::test
