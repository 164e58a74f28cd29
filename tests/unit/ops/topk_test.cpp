// SPDX-License-Identifier: Apache-2.0
// Hand values for TopK, OneHot and the corners of Interpolate that tools disagree about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TopKTest, KeepsTheOrderOfEqualElements) {
  const Tensor data = floats({5}, {2, 3, 2, 3, 1});
  const std::vector<Tensor> largest =
      run_op("TopK", {{"axis", "-1"}, {"mode", "max"}, {"sort", "value"}}, {data, int_scalar(3)}, 3);
  EXPECT_THAT(largest[0].values<float>(), ElementsAre(3, 3, 2));
  EXPECT_THAT(largest[1].values<std::int32_t>(), ElementsAre(1, 3, 0));
  const std::vector<Tensor> by_place =
      run_op("TopK", {{"axis", "0"}, {"mode", "min"}, {"sort", "index"}, {"index_element_type", "i64"}},
             {data, int_scalar(3)}, 3);
  EXPECT_THAT(by_place[0].values<float>(), ElementsAre(2, 2, 1));
  EXPECT_THAT(by_place[1].values<std::int64_t>(), ElementsAre(0, 2, 4));
  EXPECT_THAT(error_of("TopK", {{"axis", "0"}}, {data, int_scalar(6)}, 3), HasSubstr("takes 6 elements"));
}

TEST(TopKTest, CountsNanAsLargest) {
  const Tensor data = floats({3}, {1, std::nanf(""), 2});
  EXPECT_THAT(run_op("TopK", {{"axis", "0"}, {"mode", "max"}}, {data, int_scalar(2)}, 3)[1].values<std::int32_t>(),
              ElementsAre(1, 2));
  EXPECT_THAT(run_op("TopK", {{"axis", "0"}, {"mode", "min"}}, {data, int_scalar(2)}, 3)[1].values<std::int32_t>(),
              ElementsAre(0, 2));
}

TEST(OneHotTest, LeavesStrangersOff) {
  const std::vector<Tensor> inputs = {ints({1, -1, 3}), int_scalar(3), floats({}, {5}), floats({}, {0})};
  EXPECT_THAT(run_op("OneHot", {{"axis", "-1"}}, inputs)[0].values<float>(), ElementsAre(0, 5, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(run_op("OneHot", {{"axis", "0"}, {"negative_indices_mode", "normalize"}}, inputs, 16)[0].values<float>(),
              ElementsAre(0, 0, 0, 5, 0, 0, 0, 5, 0));
}

TEST(InterpolateTest, HitsTiesExactly) {
  // OpenVINO divides by a rounded 0.3 and gives 14 for 14.5; ONNX Runtime and arithmetic give 15.
  const RawAttributes raw = {{"mode", "nearest"},
                             {"shape_calculation_mode", "sizes"},
                             {"coordinate_transformation_mode", "half_pixel"},
                             {"nearest_mode", "round_prefer_ceil"}};
  EXPECT_THAT(run_op("Interpolate", raw, {counting({20}), ints({6}), ints({0})}, 11)[0].values<float>(),
              ElementsAre(1, 5, 8, 11, 15, 18));
  RawAttributes scaled = raw;
  scaled["shape_calculation_mode"] = "scales";
  EXPECT_THAT(run_op("Interpolate", scaled, {counting({20}), floats({1}, {0.3F}), ints({0})}, 11)[0].values<float>(),
              ElementsAre(1, 5, 8, 11, 15, 18));
}

TEST(InterpolateTest, RefusesWhatHasNoMeaning) {
  const RawAttributes raw = {{"mode", "linear"}, {"shape_calculation_mode", "sizes"}};
  EXPECT_THAT(error_of("Interpolate", raw, {counting({4}), ints({0}), ints({0})}, 11), HasSubstr("output size 0"));
  EXPECT_THAT(error_of("Interpolate", raw, {counting({4}), ints({2, 2}), ints({0})}, 11), HasSubstr("2 sizes"));
  EXPECT_THAT(error_of("Interpolate", raw, {counting({0}), ints({2}), ints({0})}, 11), HasSubstr("empty axis"));
  EXPECT_THAT(error_of("Interpolate", {{"mode", "area"}, {"axes", "0"}}, {counting({4}), ints({2})}, 1),
              HasSubstr("'area'"));
}

}  // namespace
}  // namespace headrace::test
