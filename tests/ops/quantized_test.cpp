// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products of bytes around the edges of tiles, vectors and words of four bytes: with what each
// device offers, with plain arithmetic, and with narrow vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

struct Case {
  Shape src{1, 5, 9, 10};
  Shape wei{17, 5, 3, 3};
  RawAttributes attributes{};
  std::int64_t zero_point = 0;
  bool has_bias = false, has_residual = false;
  Activation activation = Activation::kNone;
};

OpCase make_case(const std::string& type, const Case& c, std::uint32_t seed) {
  OpCase result;
  result.type = type;
  result.attributes = c.attributes;
  result.attributes["zero_point"] = std::to_string(c.zero_point);
  const bool is_matmul = type == "QuantizedMatMul";
  const bool is_transposed = is_matmul && c.attributes.count("transpose_b") != 0;
  const std::int64_t channels = is_matmul && !is_transposed ? c.wei[1] : c.wei[0];
  result.inputs = {random_ints(ElementType::u8, c.src, seed, 0, 256),
                   random_ints(ElementType::i8, c.wei, seed + 1, -128, 128),
                   random_tensor({channels}, seed + 2, 1e-5F, 1e-3F)};
  result.constants = {1, 2};
  result.epilogue.activation = c.activation;
  result.epilogue.alpha = -0.5F;
  result.epilogue.beta = 0.5F;
  const Shape dst = make_node(result).outputs[0].shape;
  if (c.has_bias) {
    result.epilogue.bias_input = static_cast<std::int32_t>(result.inputs.size());
    result.constants.push_back(result.inputs.size());
    result.inputs.push_back(random_tensor({channels}, seed + 3));
  }
  if (c.has_residual) {
    result.epilogue.residual_input = static_cast<std::int32_t>(result.inputs.size());
    result.inputs.push_back(random_tensor(dst, seed + 4));
  }
  // Integer sums are exact: what is left is the rounding of the scale, the bias and the residual.
  result.tolerance = 1e-6;
  return result;
}

// Every form of the kernel.
void check_forms(const OpCase& c) {
  check_op(c);
  for (const int width : {16, 8, 4}) {
    check_op_as(c, [width](KernelCaps& caps) {
      caps.has_vnni = false;
      caps.vector_width = std::min(caps.vector_width, width);
    });
  }
}

void check_conv(const Case& c, std::uint32_t seed = 3) {
  SCOPED_TRACE("src " + to_string(c.src) + " wei " + to_string(c.wei) + " zero point " + std::to_string(c.zero_point));
  check_forms(make_case("QuantizedConvolution", c, seed));
}

void check_matmul(const Case& c, std::uint32_t seed = 3) {
  SCOPED_TRACE("a " + to_string(c.src) + " b " + to_string(c.wei) + " zero point " + std::to_string(c.zero_point));
  check_forms(make_case("QuantizedMatMul", c, seed));
}

const RawAttributes kPadded{{"pads_begin", "1,1"}, {"pads_end", "1,1"}};

TEST(QuantizedOpTest, ChannelCountsAroundWordsAndVectors) {
  for (std::int64_t channels = 1; channels <= 65; channels += channels < 6 ? 1 : 5) {
    check_conv({.src = {1, channels, 3, 5}, .wei = {7, channels, 3, 3}, .attributes = kPadded, .zero_point = 128});
    check_conv({.src = {1, 6, 3, 5}, .wei = {channels, 6, 1, 1}, .has_bias = true, .has_residual = true});
  }
  for (const std::int64_t channels : {15, 17, 31, 33, 63, 64, 65}) {
    check_conv({.src = {1, channels, 4, 4}, .wei = {channels, channels, 1, 1}, .zero_point = 3, .has_bias = true});
  }
}

TEST(QuantizedOpTest, PixelCountsAroundTiles) {
  for (const Shape& size :
       std::vector<Shape>{{1, 1}, {1, 2}, {1, 5}, {2, 3}, {1, 7}, {1, 13}, {1, 14}, {3, 5}, {7, 7}}) {
    for (const std::int64_t batch : {1, 3}) {
      check_conv({.src = {batch, 9, size[0], size[1]},
                  .wei = {40, 9, 3, 3},
                  .attributes = kPadded,
                  .zero_point = 77,
                  .has_residual = true,
                  .activation = Activation::kRelu});
    }
  }
}

TEST(QuantizedOpTest, StridesPadsAndDilations) {
  const RawAttributes cases[] = {
      {{"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "0,1"}},
      {{"strides", "1,3"}, {"pads_begin", "2,0"}, {"pads_end", "0,2"}},
      {{"strides", "4,1"}, {"dilations", "1,2"}, {"pads_begin", "0,3"}, {"pads_end", "1,0"}},
      {{"dilations", "2,1"}, {"pads_begin", "3,3"}, {"pads_end", "3,3"}},
      {{"strides", "2,1"}, {"auto_pad", "same_upper"}},
  };
  for (const RawAttributes& attributes : cases) {
    for (const std::int64_t zero_point : {0, 1, 255}) {
      check_conv({.attributes = attributes, .zero_point = zero_point, .has_bias = true});
      check_conv({.src = {2, 3, 6, 7}, .wei = {5, 3, 1, 2}, .attributes = attributes, .zero_point = zero_point});
    }
  }
}

TEST(QuantizedOpTest, OneDimension) {
  check_conv({.src = {2, 6, 21},
              .wei = {18, 6, 5},
              .attributes = {{"strides", "2"}, {"pads_begin", "3"}, {"pads_end", "1"}},
              .zero_point = 9,
              .has_bias = true});
}

TEST(QuantizedOpTest, Activations) {
  for (const Activation activation : {Activation::kRelu, Activation::kClamp, Activation::kSwish, Activation::kTanh}) {
    OpCase c = make_case("QuantizedConvolution",
                         {.zero_point = 100, .has_bias = true, .has_residual = true, .activation = activation}, 5);
    c.tolerance = 1e-5;  // exponentials are within 1e-6 of the exact value each
    check_forms(c);
  }
}

TEST(QuantizedOpTest, MatrixProducts) {
  for (const std::int64_t rows : {1, 2, 6, 7, 14, 15}) {
    for (const std::int64_t depth : {1, 3, 4, 5, 64, 131}) {
      check_matmul({.src = {rows, depth}, .wei = {depth, 33}, .zero_point = 128, .has_bias = true});
      check_matmul({.src = {rows, depth}, .wei = {130, depth}, .attributes = {{"transpose_b", "true"}}});
    }
  }
  check_matmul({.src = {20}, .wei = {20, 17}, .zero_point = 4});
  check_matmul(
      {.src = {2, 3, 5, 20}, .wei = {20, 17}, .zero_point = 4, .has_residual = true, .activation = Activation::kRelu});
}

// All products at their extremes: the largest sums and corrections that the operator takes, bit for bit.
TEST(QuantizedOpTest, DeepSumsOfExtremesAreExact) {
  for (const std::int64_t depth : {4608, 9216, 9217, 32768}) {
    for (const auto& [level, weight, zero_point] :
         {std::array{255, -128, 0}, std::array{255, 127, 0}, std::array{0, -128, 255}, std::array{255, -128, 255}}) {
      for (const std::int64_t rows : {1, 3}) {
        OpCase c =
            make_case("QuantizedMatMul", {.src = {rows, depth}, .wei = {depth, 18}, .zero_point = zero_point}, 1);
        std::fill_n(c.inputs[0].mutable_values<std::uint8_t>().data(), c.inputs[0].count(),
                    static_cast<std::uint8_t>(level));
        std::fill_n(c.inputs[1].mutable_values<std::int8_t>().data(), c.inputs[1].count(),
                    static_cast<std::int8_t>(weight));
        std::fill_n(c.inputs[2].mutable_values<float>().data(), c.inputs[2].count(), 1.0F);
        c.tolerance = 0;
        check_forms(c);
      }
    }
  }
}

TEST(QuantizedOpTest, DeepConvolution) {
  check_conv({.src = {1, 1030, 5, 4}, .wei = {35, 1030, 3, 3}, .attributes = kPadded, .zero_point = 200});
}

TEST(QuantizedOpTest, RefusesWhatHasNoKernel) {
  OpCase c = make_case("QuantizedConvolution", {}, 1);
  c.constants.clear();
  check_op_refused(c, "weights are not constant");
}

TEST(QuantizeLevelsOpTest, ShapesAndRanges) {
  for (const Shape& shape : std::vector<Shape>{{1}, {37}, {3, 16}, {2, 3, 5, 7}, {1, 17, 4, 4}, {1, 64, 3, 3}}) {
    for (const auto& [low, high, levels] : {std::array{"0", "1.5", "256"}, std::array{"-1", "0.99", "255"},
                                            std::array{"-0.25", "0.125", "16"}, std::array{"0", "2", "2"}}) {
      OpCase c;
      c.type = "QuantizeLevels";
      c.attributes = {{"in_low", low}, {"in_high", high}, {"levels", levels}};
      c.inputs = {random_tensor(shape, 8, -2.0F, 2.0F)};
      c.tolerance = 0;
      check_op(c);
      for (const int width : {8, 4}) check_op_as(c, [width](KernelCaps& caps) { caps.vector_width = width; });
    }
  }
}

TEST(QuantizeLevelsOpTest, BordersHalvesAndWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity();
  OpCase c;
  c.type = "QuantizeLevels";
  c.attributes = {{"in_low", "-2"}, {"in_high", "2"}, {"levels", "5"}};
  c.inputs = {floats({14}, {-inf, -2, -1.5F, -1, -0.5F, 0, 0.5F, 1, 1.5F, 2, 2.5F, inf, -0.0F,
                            std::numeric_limits<float>::quiet_NaN()})};
  c.tolerance = 0;
  EXPECT_EQ(to_int64s(run_case_reference(c)[0]), (std::vector<std::int64_t>{0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 4, 2, 0}));
  check_op(c);
}

}  // namespace
}  // namespace headrace::test
