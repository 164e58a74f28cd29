// SPDX-License-Identifier: Apache-2.0
// Every form of every convolution kernel on every OpenCL device: a sampled grid of parameters, the edges of the form's
// tiles, and data that are not numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "support/conv_grid.hpp"

namespace headrace::test {
namespace {

constexpr std::size_t kSamples = 60;
constexpr std::uint32_t kSeed = 2026;

// Puts a NaN and both infinities somewhere.
void add_specials(Tensor& tensor, std::uint32_t seed) {
  const auto values = tensor.mutable_values<float>();
  const float inf = std::numeric_limits<float>::infinity();
  std::uint32_t at = seed * 2654435761U;
  for (const float special : {std::numeric_limits<float>::quiet_NaN(), inf, -inf}) {
    at = at * 1664525U + 1013904223U;
    if (!values.empty()) values[at % values.size()] = special;
  }
}

OpCase make_grid_case(const ConvForm& form, const GridCase& c, std::uint32_t seed) {
  const ConvFamily family = form.family;
  OpCase result = family == ConvFamily::kInt8 ? make_int8_case(c.conv, c.zero_point, seed) : make_case(c.conv, seed);
  if (c.has_specials) {
    // Winograd's transforms spread them over a tile, bytes have none: there the residual alone.
    const bool is_exact = family == ConvFamily::kGeneral || family == ConvFamily::kDepthwise;
    if (is_exact) add_specials(result.inputs[0], seed);
    const std::int32_t residual = result.epilogue.residual_input;
    if (residual >= 0) add_specials(result.inputs[static_cast<std::size_t>(residual)], seed + 1);
  }
  result.lower = form.lower;
  std::ostringstream label;
  label << "case " << seed << ": ";
  PrintTo(c.conv, &label);
  if (family == ConvFamily::kInt8) label << " zero point " << c.zero_point;
  if (c.has_specials) label << " with NaN";
  result.label = label.str();
  return result;
}

class ConvGridTest : public testing::TestWithParam<ConvForm> {
 protected:
  void SetUp() override {
    if (devices_for(GetParam().instances[0]).empty()) GTEST_SKIP() << "no device runs this form";
  }

  void check(const std::vector<GridCase>& cases) {
    for (std::size_t i = 0; i < cases.size() && !HasFailure(); ++i) {
      check_op_with(make_grid_case(GetParam(), cases[i], static_cast<std::uint32_t>(i)), GetParam().instances);
    }
  }
};

std::string name_of(const testing::TestParamInfo<ConvForm>& info) {
  const std::string& file = info.param.instances[0].file;
  std::string name = file.substr(0, file.find('.'));
  for (const KernelInstance& instance : info.param.instances) name += "_" + instance.macros;
  for (char& letter : name) letter = letter == '=' || letter == ',' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Forms, ConvGridTest, testing::ValuesIn(all_conv_forms()), name_of);

TEST_P(ConvGridTest, SampledParameters) { check(sample_conv_grid(GetParam().family, kSamples, kSeed)); }

TEST_P(ConvGridTest, EdgesOfTiles) { check(cases_at_tile_edges(GetParam())); }

// What tests/oclgrind.sh runs: each load and store in seconds, not minutes.
TEST_P(ConvGridTest, TinyShape) { check({tiny_case(GetParam())}); }

// Matrix products go through the kernels of dense convolutions; those of a transposed A read channels that are apart.
using MatMulFormTest = ConvGridTest;

std::vector<ConvForm> general_forms() {
  std::vector<ConvForm> forms = all_conv_forms();
  std::erase_if(forms, [](const ConvForm& form) { return form.family != ConvFamily::kGeneral; });
  return forms;
}

INSTANTIATE_TEST_SUITE_P(Forms, MatMulFormTest, testing::ValuesIn(general_forms()), name_of);

TEST_P(MatMulFormTest, SizesAroundTiles) {
  const ConvForm& form = GetParam();
  std::uint32_t seed = 0;
  for (const char* transpose_a : {"false", "true"}) {
    for (const std::int64_t step : {-1, 0, 1}) {
      const std::int64_t M = form.tile_pixels + step, K = form.part + step, N = form.tile_channels + step;
      if (M < 1) continue;
      OpCase c;
      c.type = "MatMul";
      c.attributes = {{"transpose_a", transpose_a}, {"transpose_b", step == 0 ? "true" : "false"}};
      const bool is_transposed = std::string(transpose_a) == "true";
      const Shape a = is_transposed ? Shape{2, K, M} : Shape{2, M, K};
      const Shape b = step == 0 ? Shape{N, K} : Shape{K, N};
      c.inputs = {random_tensor(a, ++seed), random_tensor(b, ++seed)};
      c.constants = {1};
      c.label = "a " + to_string(a) + " b " + to_string(b);
      check_op_with(c, form.instances);
    }
  }
}

template <typename F>
std::set<std::int64_t> values_in(const std::vector<GridCase>& cases, F value) {
  std::set<std::int64_t> values;
  for (const GridCase& c : cases) values.insert(value(c.conv));
  return values;
}

void expect_all(const std::set<std::int64_t>& seen, const Ints& wanted, const std::string& what) {
  for (const std::int64_t value : wanted) EXPECT_EQ(seen.count(value), 1U) << what << " " << value << " is not sampled";
}

TEST(ConvGridValuesTest, EveryValueIsSampled) {
  const ConvGridValues values;
  const auto cases = sample_conv_grid(ConvFamily::kGeneral, kSamples, kSeed);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::string side = axis == 0 ? " of rows" : " of columns";
    expect_all(values_in(cases, [=](const auto& c) { return c.stride[axis]; }), values.strides, "stride" + side);
    expect_all(values_in(cases, [=](const auto& c) { return c.dilation[axis]; }), values.dilations, "dilation" + side);
    expect_all(values_in(cases, [=](const auto& c) { return c.pads_begin[axis]; }), {0, 1, 2}, "pad before" + side);
    expect_all(values_in(cases, [=](const auto& c) { return c.pads_end[axis]; }), {0, 1, 2}, "pad after" + side);
    expect_all(values_in(cases, [=](const auto& c) { return c.size[axis]; }), values.sizes, "size" + side);
  }
  expect_all(values_in(cases, [](const auto& c) { return c.N; }), values.batches, "batch");
  expect_all(values_in(cases, [](const auto& c) { return c.IC; }), values.channels, "input channels");
  expect_all(values_in(cases, [](const auto& c) { return c.OC; }), values.channels, "output channels");
  expect_all(values_in(cases, [](const auto& c) { return c.G; }), {1, 2, 3, 16, 64}, "groups");
  for (const Ints& kernel : values.kernels) {
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const auto& c) { return c.conv.kernel == kernel; }));
  }
}

}  // namespace
}  // namespace headrace::test
