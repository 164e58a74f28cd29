// SPDX-License-Identifier: Apache-2.0
// Every form of Winograd's convolution on every OpenCL device, as if a bitstream held nothing but that form.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "ops/conv_winograd.hpp"
#include "support/conv_grid.hpp"

namespace headrace::test {
namespace {

struct WinogradCase {
  std::int64_t N = 1, IC = 20, OC = 37, height = 9, width = 10;
  std::int64_t pads[4] = {1, 1, 1, 1};  // top, left, bottom, right
  Epilogue epilogue{};
  bool has_bias = false, has_residual = false;
};

OpCase make_case(const WinogradCase& c, std::uint32_t seed) {
  OpCase result;
  result.type = "Convolution";
  result.attributes["pads_begin"] = std::to_string(c.pads[0]) + "," + std::to_string(c.pads[1]);
  result.attributes["pads_end"] = std::to_string(c.pads[2]) + "," + std::to_string(c.pads[3]);
  result.inputs = {random_tensor({c.N, c.IC, c.height, c.width}, seed), random_tensor({c.OC, c.IC, 3, 3}, seed + 1)};
  result.constants = {1};
  result.epilogue = c.epilogue;
  const Shape dst = make_node(result).outputs[0].shape;
  if (c.has_bias) {
    result.epilogue.bias_input = static_cast<std::int32_t>(result.inputs.size());
    result.constants.push_back(result.inputs.size());
    result.inputs.push_back(random_tensor({c.OC}, seed + 2));
  }
  if (c.has_residual) {
    result.epilogue.residual_input = static_cast<std::int32_t>(result.inputs.size());
    result.inputs.push_back(random_tensor(dst, seed + 3));
  }
  return result;
}

class WinogradTest : public testing::TestWithParam<WinogradForm> {
 protected:
  void check(OpCase op_case) {
    op_case.lower = lower_as(GetParam());
    check_op_with(op_case, GetParam().instances());
  }
};

std::string name_of(const testing::TestParamInfo<WinogradForm>& info) {
  std::string name;
  for (const KernelInstance& instance : info.param.instances()) name += (name.empty() ? "" : ",") + instance.macros;
  for (char& letter : name) letter = letter == '=' || letter == ',' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Forms, WinogradTest, testing::ValuesIn(winograd_forms_to_test()), name_of);

TEST_P(WinogradTest, SizesAroundTiles) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 13}) {
    check(make_case({.height = size, .width = 14 - size}, 1));
  }
  check(make_case({.N = 3, .IC = 3, .OC = 5, .height = 30, .width = 31}, 2));
}

TEST_P(WinogradTest, ChannelsAroundVectors) {
  for (const std::int64_t channels : {1, 15, 16, 17, 32, 33, 64}) {
    check(make_case({.IC = channels, .OC = 4}, 3));
    check(make_case({.IC = 4, .OC = channels, .has_bias = true}, 4));
  }
}

TEST_P(WinogradTest, EachPadAlone) {
  for (std::size_t side = 0; side < 4; ++side) {
    for (const std::int64_t pad : {0, 1, 2, 5}) {
      WinogradCase c{.pads = {0, 0, 0, 0}};
      c.pads[side] = pad;
      check(make_case(c, 5));
    }
  }
}

TEST_P(WinogradTest, Epilogue) {
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kClamp, Activation::kSwish}) {
    Epilogue epilogue;
    epilogue.activation = activation;
    epilogue.alpha = activation == Activation::kClamp ? -0.5F : 1.0F;
    epilogue.beta = 0.75F;
    check(make_case({.N = 2, .epilogue = epilogue, .has_bias = true, .has_residual = true}, 6));
  }
}

// Blocks of tiles, ranges of channels, deep sums; the error stays far below a direct sum's tolerance.
TEST_P(WinogradTest, LargeShapes) {
  check(make_case({.IC = 64, .OC = 64, .height = 57, .width = 61, .has_bias = true}, 7));
  check(make_case({.IC = 300, .OC = 200, .height = 14, .width = 15}, 8));
  check(make_case({.N = 5, .IC = 512, .OC = 33, .height = 7, .width = 7}, 9));
}

TEST(WinogradNanTest, ExactNanKeepsTheDirectForm) {
  OpCase c = make_case({.IC = 64, .OC = 64, .height = 56, .width = 56}, 10);
  auto values = c.inputs[0].mutable_values<float>();
  values[0] = std::numeric_limits<float>::quiet_NaN();
  values[56 * 30 + 30] = std::numeric_limits<float>::infinity();
  check_op_as(c, [](KernelCaps& caps) { caps.exact_nan = true; });
}

// Whether the cheapest Winograd form costs less than the cheapest direct one.
bool gains(const ConvShape& shape, const KernelCaps& caps) {
  const auto cost = [](const auto& a, const auto& b) { return a.cost < b.cost; };
  const auto winograd = winograd_candidates(shape, caps);
  const auto direct = conv_tile_candidates(shape.out[1] * shape.out[2], shape.OC, caps);
  if (winograd.empty()) return false;
  const double products = 9.0 * static_cast<double>(shape.IC);
  return std::min_element(winograd.begin(), winograd.end(), cost)->cost <
         products * std::min_element(direct.begin(), direct.end(), cost)->cost;
}

TEST(WinogradChoiceTest, TakesWhatGains) {
  KernelCaps caps;
  caps.type = DeviceType::kCpu;
  caps.vector_width = 16;
  caps.compute_units = 2;
  ConvShape shape;
  shape.IC = shape.OC = 64;
  shape.kernel = {1, 3, 3};
  shape.in = shape.out = {1, 56, 56};
  EXPECT_TRUE(gains(shape, caps));
  EXPECT_EQ(cheapest(winograd_candidates(shape, caps))->out, 4);
  caps.exact_nan = true;
  EXPECT_TRUE(winograd_candidates(shape, caps).empty());
  caps.exact_nan = false;
  shape.in = shape.out = {1, 2, 2};
  EXPECT_FALSE(gains(shape, caps));
  shape.stride = {1, 2, 1};
  EXPECT_TRUE(winograd_candidates(shape, caps).empty());
}

}  // namespace
}  // namespace headrace::test
