// SPDX-License-Identifier: Apache-2.0
// Pooling and resampling on every device against the reference, and OpenVINO's stored cases of all moving operators.
#include <gtest/gtest.h>

#include <limits>

#include "support/op_case.hpp"
#include "support/stored_cases.hpp"

namespace headrace::test {
namespace {

OpCase pooling(const std::string& type, const Tensor& data, const char* kernel, const char* strides, const char* begin,
               const char* end, std::int32_t opset = 1) {
  OpCase result;
  result.type = type;
  result.opset = opset;
  result.attributes = {{"kernel", kernel}, {"strides", strides},      {"pads_begin", begin},
                       {"pads_end", end},  {"rounding_type", "ceil"}, {"exclude-pad", "false"}};
  if (type == "MaxPool") result.attributes.erase("exclude-pad");
  result.inputs = {data};
  return result;
}

TEST(PoolOpTest, PoolsAroundTheVectorWidth) {
  for (const std::int64_t channels : {1, 3, 15, 16, 17, 40}) {
    for (const char* type : {"MaxPool", "AvgPool"}) {
      check_op(pooling(type, random_tensor({2, channels, 9, 8}, 1), "3,3", "2,2", "1,1", "1,1"));
      check_op(pooling(type, random_tensor({1, channels, 7, 7}, 2), "7,7", "1,1", "0,0", "0,0"));
      check_op(pooling(type, random_tensor({1, channels, 6, 6}, 3), "1,1", "2,2", "0,0", "0,0"));
      check_op(pooling(type, random_tensor({1, channels, 5, 7}, 4), "2,3", "1,2", "0,2", "1,0"));
    }
  }
}

TEST(PoolOpTest, PoolsInOneAndThreeDimensions) {
  for (const char* type : {"MaxPool", "AvgPool"}) {
    check_op(pooling(type, random_tensor({2, 18, 13}, 5), "3", "2", "1", "0"));
    check_op(pooling(type, random_tensor({2, 5, 4, 6, 5}, 6), "2,3,2", "1,2,2", "1,0,1", "0,1,1"));
  }
}

TEST(PoolOpTest, GivesIndices) {
  OpCase flat = pooling("MaxPool", random_tensor({2, 17, 6, 5}, 7), "2,2", "1,2", "1,0", "0,1", 8);
  check_op(flat);
  flat.attributes["axis"] = "2";
  flat.attributes["index_element_type"] = "i32";
  flat.attributes["dilations"] = "2,1";
  check_op(flat);
}

TEST(PoolOpTest, KeepsNan) {
  Tensor data = random_tensor({1, 20, 6, 6}, 8);
  data.mutable_values<float>()[100] = std::numeric_limits<float>::quiet_NaN();
  data.mutable_values<float>()[300] = -std::numeric_limits<float>::infinity();
  check_op(pooling("MaxPool", data, "3,3", "1,1", "1,1", "1,1"));
  check_op(pooling("MaxPool", data, "3,3", "1,1", "1,1", "1,1", 8));
  check_op(pooling("AvgPool", data, "3,3", "1,1", "1,1", "1,1"));
}

TEST(PoolOpTest, AveragesBigPlanesExactly) {
  Tensor data(ElementType::f32, {1, 1, 256, 256});
  for (float& value : data.mutable_values<float>()) value = 2;
  OpCase global = pooling("AvgPool", data, "256,256", "1,1", "0,0", "0,0");
  global.tolerance = 0;
  check_op(global);
}

TEST(PoolOpTest, RefusesIntegers) {
  check_op_refused(pooling("MaxPool", random_ints(ElementType::i8, {1, 2, 4, 4}, 9, -5, 5), "2,2", "2,2", "0,0", "0,0"),
                   "pooling of i8");
}

OpCase interpolation(const std::string& mode, const Shape& shape, std::vector<std::int64_t> sizes,
                     std::vector<std::int64_t> axes) {
  OpCase result;
  result.type = "Interpolate";
  result.opset = 11;
  result.attributes = {{"mode", mode}, {"shape_calculation_mode", "sizes"}, {"antialias", "true"}};
  const auto count = static_cast<std::int64_t>(axes.size());
  result.inputs = {random_tensor(shape, 10), ints({count}, std::move(sizes)), ints({count}, std::move(axes))};
  result.constants = {1, 2};
  return result;
}

TEST(InterpolateOpTest, ResamplesAnyAxes) {
  for (const char* mode : {"nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"}) {
    check_op(interpolation(mode, {2, 17, 5, 7}, {9, 4}, {2, 3}));
    check_op(interpolation(mode, {1, 5, 7, 20}, {9, 4}, {1, 2}));
    check_op(interpolation(mode, {5, 7}, {3, 11}, {0, 1}));
    check_op(interpolation(mode, {1, 3, 4, 5, 6}, {3, 7, 8}, {2, 3, 4}));
  }
  OpCase padded = interpolation("linear", {1, 4, 5, 6}, {9, 9}, {2, 3});
  padded.attributes["pads_begin"] = "0,0,1,2";
  padded.attributes["pads_end"] = "0,0,0,1";
  check_op(padded);
}

class StoredMoveOpTest : public ::testing::TestWithParam<StoredCase> {};

TEST_P(StoredMoveOpTest, DeviceAgreesWithReference) {
  OpCase op_case;
  op_case.type = GetParam().type;
  op_case.attributes = GetParam().attributes;
  op_case.inputs = GetParam().inputs;
  op_case.opset = GetParam().opset;
  for (std::size_t i = 1; i < op_case.inputs.size(); ++i) op_case.constants.push_back(i);
  check_op(op_case);
}

std::string label_of(const ::testing::TestParamInfo<StoredCase>& stored) {
  return stored.param.type + "_" + stored.param.label;
}

INSTANTIATE_TEST_SUITE_P(, StoredMoveOpTest, ::testing::ValuesIn(stored_move_cases()), label_of);

}  // namespace
}  // namespace headrace::test
