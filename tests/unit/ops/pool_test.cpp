// SPDX-License-Identifier: Apache-2.0
// Hand values for pooling (cases #7, #8 and #20 of the public reports, and the IR's own corners).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;

constexpr float kLowest = std::numeric_limits<float>::lowest();

RawAttributes window(const char* kernel, const char* strides, const char* begin, const char* end,
                     const char* rounding = "floor") {
  return {
      {"kernel", kernel}, {"strides", strides}, {"pads_begin", begin}, {"pads_end", end}, {"rounding_type", rounding}};
}

RawAttributes averaging(RawAttributes raw, const char* exclude_pad) {
  raw["exclude-pad"] = exclude_pad;
  return raw;
}

Tensor ones(const Shape& shape) {
  return floats(shape, std::vector<float>(static_cast<std::size_t>(count_elems(shape)), 1.0F));
}

TEST(PoolTest, RoundsUpAndCutsTheLastWindow) {
  const RawAttributes raw = window("3,3", "2,2", "0,0", "0,0", "ceil");
  const Tensor data = counting({1, 1, 4, 4});
  EXPECT_THAT(run_op("MaxPool", raw, {data})[0].values<float>(), ElementsAre(10, 11, 14, 15));
  EXPECT_THAT(run_op("AvgPool", averaging(raw, "false"), {data})[0].values<float>(), ElementsAre(5, 6.5, 11, 12.5));
}

TEST(PoolTest, CountsPaddingWhenAsked) {
  const RawAttributes raw = window("3,3", "2,2", "1,1", "1,1", "ceil");
  EXPECT_THAT(run_op("AvgPool", averaging(raw, "false"), {ones({1, 1, 3, 3})})[0].values<float>(),
              Each(FloatNear(0.444444F, 1e-6F)));
  EXPECT_THAT(run_op("AvgPool", averaging(raw, "true"), {ones({1, 1, 3, 3})})[0].values<float>(), Each(1.0F));
}

TEST(PoolTest, PadsEachEndByItself) {
  const RawAttributes raw = window("2,2", "1,1", "0,0", "1,1");
  EXPECT_THAT(run_op("AvgPool", averaging(raw, "false"), {ones({1, 1, 2, 2})})[0].values<float>(),
              ElementsAre(1, 0.5, 0.5, 0.25));
  EXPECT_THAT(run_op("AvgPool", averaging(raw, "true"), {ones({1, 1, 2, 2})})[0].values<float>(), Each(1.0F));
  const Tensor data = counting({1, 1, 3, 3}, 1);
  const auto sums = [&](const char* begin, const char* end) {
    Tensor result = run_op("AvgPool", averaging(window("2,2", "1,1", begin, end), "false"), {data})[0];
    for (float& value : result.mutable_values<float>()) value *= 4;
    return result;
  };
  EXPECT_THAT(sums("0,0", "1,1").values<float>(), ElementsAre(12, 16, 9, 24, 28, 15, 15, 17, 9));
  EXPECT_THAT(sums("1,1", "0,0").values<float>(), ElementsAre(1, 3, 5, 5, 12, 16, 11, 24, 28));
  EXPECT_THAT(sums("1,0", "0,2").values<float>(), ElementsAre(3, 5, 3, 0, 12, 16, 9, 0, 24, 28, 15, 0));
}

TEST(PoolTest, SurvivesWindowsOutsideTheInput) {
  const RawAttributes raw = window("1,1", "2,2", "0,0", "0,0", "ceil");
  const Tensor data = counting({1, 1, 6, 6});
  const Tensor maxima = run_op("MaxPool", raw, {data})[0];
  EXPECT_EQ(maxima.shape(), (Shape{1, 1, 4, 4}));
  EXPECT_THAT(maxima.values<float>(), ElementsAre(0, 2, 4, kLowest, 12, 14, 16, kLowest, 24, 26, 28, kLowest, kLowest,
                                                  kLowest, kLowest, kLowest));
  EXPECT_EQ(run_op("AvgPool", averaging(raw, "true"), {data})[0].values<float>()[3], 0.0F);
  EXPECT_EQ(run_op("AvgPool", averaging(raw, "false"), {data})[0].values<float>()[3], 0.0F);
}

TEST(PoolTest, RoundsAsPyTorchWhenAsked) {
  EXPECT_EQ(run_op("MaxPool", window("2,2", "2,2", "1,1", "1,1", "ceil"), {counting({1, 1, 5, 5})})[0].shape(),
            (Shape{1, 1, 4, 4}));
  EXPECT_EQ(
      run_op("MaxPool", window("2,2", "2,2", "1,1", "1,1", "ceil_torch"), {counting({1, 1, 5, 5})}, 14)[0].shape(),
      (Shape{1, 1, 3, 3}));
  EXPECT_EQ(run_op("MaxPool", window("3,3", "2,2", "0,0", "0,0", "ceil"), {counting({1, 1, 112, 112})})[0].shape(),
            (Shape{1, 1, 56, 56}));
}

TEST(PoolTest, ComputesPaddingFromAutoPad) {
  RawAttributes raw = averaging(window("2,2", "1,1", "7,7", "7,7"), "true");
  raw["auto_pad"] = "same_upper";
  EXPECT_THAT(run_op("AvgPool", raw, {counting({1, 1, 2, 2})})[0].values<float>(), ElementsAre(1.5, 2, 2.5, 3));
  raw["auto_pad"] = "same_lower";
  EXPECT_THAT(run_op("AvgPool", raw, {counting({1, 1, 2, 2})})[0].values<float>(), ElementsAre(0, 0.5, 1, 1.5));
  raw["auto_pad"] = "valid";
  EXPECT_THAT(run_op("AvgPool", raw, {counting({1, 1, 2, 2})})[0].values<float>(), ElementsAre(1.5));
}

TEST(PoolTest, GivesIndicesFromTheAxisOn) {
  RawAttributes raw = window("2", "2", "0", "0");
  const Tensor data = floats({2, 2, 4}, {0, 3, 2, 1, 5, 4, 7, 7, 9, 8, 1, 2, 0, 0, 1, 0});
  const std::vector<Tensor> flat = run_op("MaxPool", raw, {data}, 8);
  EXPECT_THAT(flat[0].values<float>(), ElementsAre(3, 2, 5, 7, 9, 2, 0, 1));
  EXPECT_THAT(flat[1].values<std::int64_t>(), ElementsAre(1, 2, 4, 6, 8, 11, 12, 14));
  raw["axis"] = "-1";
  raw["index_element_type"] = "i32";
  EXPECT_THAT(run_op("MaxPool", raw, {data}, 8)[1].values<std::int32_t>(), ElementsAre(1, 2, 0, 2, 0, 3, 0, 2));
  EXPECT_EQ(run_op("MaxPool", window("2", "2", "0", "0"), {data}, 1).size(), 1U);
}

TEST(PoolTest, DilatesWindows) {
  RawAttributes raw = window("2", "1", "0", "0");
  raw["dilations"] = "3";
  EXPECT_THAT(run_op("MaxPool", raw, {floats({1, 1, 5}, {9, 1, 2, 3, 4})}, 8)[0].values<float>(), ElementsAre(9, 4));
  raw["pads_begin"] = "2";
  EXPECT_THAT(run_op("MaxPool", raw, {floats({1, 1, 5}, {9, 1, 2, 3, 4})}, 8)[0].values<float>(),
              ElementsAre(1, 2, 9, 4));
}

TEST(PoolTest, KeepsNaN) {
  const float nan = std::nanf("");
  const Tensor result = run_op("MaxPool", window("3", "1", "0", "0"), {floats({1, 1, 6}, {1, nan, 2, 5, 6, 4})})[0];
  EXPECT_TRUE(std::isnan(result.values<float>()[0]));
  EXPECT_TRUE(std::isnan(result.values<float>()[1]));
  EXPECT_EQ(result.values<float>()[2], 6);
}

TEST(PoolTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(error_of("MaxPool", window("3", "1", "0", "0"), {counting({1, 1, 2, 2})}), HasSubstr("'kernel' has 1"));
  EXPECT_THAT(error_of("MaxPool", window("3", "0", "0", "0"), {counting({1, 1, 4})}), HasSubstr("'strides'"));
  EXPECT_THAT(error_of("MaxPool", window("5", "1", "0", "0"), {counting({1, 1, 4})}), HasSubstr("window of 5"));
  EXPECT_THAT(error_of("MaxPool", window("3", "1", "-1", "0"), {counting({1, 1, 4})}), HasSubstr("'pads_begin'"));
  EXPECT_THAT(error_of("MaxPool", window("1", "1", "0", "0"), {counting({1, 4})}), HasSubstr("rank 3 to 5"));
}

TEST(AdaptivePoolTest, SharesTheInputOut) {
  const Tensor data = counting({1, 1, 5});
  EXPECT_THAT(run_op("AdaptiveAvgPool", {}, {data, ints({3})})[0].values<float>(), ElementsAre(0.5, 2, 3.5));
  const std::vector<Tensor> maxima = run_op("AdaptiveMaxPool", {}, {counting({1, 2, 2, 3}), ints({1, 2})});
  EXPECT_THAT(maxima[0].values<float>(), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(maxima[1].values<std::int64_t>(), ElementsAre(4, 5, 4, 5));
  EXPECT_THAT(run_op("AdaptiveAvgPool", {}, {data, ints({7})})[0].values<float>(),
              ElementsAreArray({0.0, 0.5, 1.5, 2.0, 2.5, 3.5, 4.0}));
  EXPECT_THAT(error_of("AdaptiveAvgPool", {}, {data, ints({0})}), HasSubstr("output size [0]"));
}

}  // namespace
}  // namespace headrace::test
