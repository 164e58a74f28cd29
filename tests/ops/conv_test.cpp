// SPDX-License-Identifier: Apache-2.0
// Convolutions on every OpenCL device: the parameters that public reports found broken elsewhere, one at a time around
// a base case and then mixed.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "support/conv_case.hpp"

namespace headrace::test {
namespace {

void check(const ConvCase& c, std::uint32_t seed = 7) {
  std::ostringstream text;
  PrintTo(c, &text);
  SCOPED_TRACE(text.str());
  check_op(make_case(c, seed));
}

TEST(ConvOpTest, KernelSizes) {
  for (const Ints& kernel : std::vector<Ints>{{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {1, 3}, {3, 1}}) {
    check({.kernel = kernel});
    check({.kernel = kernel, .stride = {2, 2}, .pads_begin = {kernel[0] - 1, 0}, .pads_end = {0, kernel[1] - 1}});
  }
}

TEST(ConvOpTest, StridesLargerThanTheKernel) {
  for (std::int64_t stride = 1; stride <= 4; ++stride) {
    for (const std::int64_t kernel : {1, 2, 3}) {
      check({.kernel = {kernel, kernel}, .stride = {stride, 5 - stride}, .pads_begin = {1, 0}, .pads_end = {0, 1}});
    }
  }
}

TEST(ConvOpTest, EachPadAlone) {
  for (const std::int64_t pad : {0, 1, 2}) {
    check({.pads_begin = {pad, 0}, .pads_end = {0, 0}});
    check({.pads_begin = {0, pad}, .pads_end = {0, 0}});
    check({.pads_begin = {0, 0}, .pads_end = {pad, 0}});
    check({.pads_begin = {0, 0}, .pads_end = {0, pad}});
    check({.dilation = {2, 2}, .pads_begin = {pad, 0}, .pads_end = {0, pad}});
  }
  check({.size = {2, 2}, .kernel = {1, 1}, .pads_begin = {2, 1}, .pads_end = {1, 3}});
}

TEST(ConvOpTest, AutoPads) {
  for (const char* auto_pad : {"same_upper", "same_lower", "valid"}) {
    for (const std::int64_t size : {7, 8}) {
      check({.size = {size, size + 1}, .stride = {2, 2}, .pads_begin = {9, 9}, .auto_pad = auto_pad});
      check({.size = {size, size + 1}, .kernel = {2, 5}, .stride = {1, 3}, .auto_pad = auto_pad});
    }
  }
}

TEST(ConvOpTest, Dilations) {
  for (const std::int64_t dilation : {1, 2, 3}) {
    check({.dilation = {dilation, 1}, .pads_begin = {2, 2}, .pads_end = {2, 2}});
    check({.stride = {2, 2}, .dilation = {1, dilation}, .pads_begin = {2, 2}, .pads_end = {2, 2}});
    check({.kernel = {1, 1}, .dilation = {dilation, dilation}});
  }
}

TEST(ConvOpTest, ChannelCountsAroundVectors) {
  for (const std::int64_t channels : {1, 3, 5, 15, 16, 17, 24, 33, 64}) {
    check({.IC = channels, .OC = 4});
    check({.IC = 4, .OC = channels, .has_bias = true});
    check({.kernel = {1, 1}, .IC = channels, .OC = channels, .has_residual = true});
  }
  check({.size = {3, 5}, .IC = 24, .OC = 112, .has_bias = true});
  check({.size = {3, 5}, .kernel = {1, 1}, .IC = 700, .OC = 48, .has_bias = true, .has_residual = true});
  check({.size = {4, 4}, .IC = 130, .OC = 20, .has_bias = true, .activation = Activation::kRelu});
}

TEST(ConvOpTest, PixelCountsAroundTiles) {
  for (const Ints& size :
       std::vector<Ints>{{1, 1}, {1, 2}, {2, 5}, {7, 7}, {1, 13}, {1, 14}, {3, 5}, {13, 20}, {31, 33}}) {
    for (const std::int64_t batch : {1, 2, 3}) {
      check({.size = size, .kernel = {1, 1}, .N = batch, .OC = 33});
      check({.size = size, .pads_begin = {1, 1}, .pads_end = {1, 1}, .N = batch, .IC = 3, .OC = 8});
    }
  }
}

TEST(ConvOpTest, Groups) {
  for (const char* type : {"GroupConvolution", "GroupConvolutionBackpropData"}) {
    for (const std::int64_t groups : {1, 2, 3}) {
      check({.type = type, .N = 2, .G = groups, .IC = 5, .OC = 7, .has_bias = true, .has_residual = true});
      check({.type = type, .stride = {2, 2}, .G = groups, .IC = 16, .OC = 33, .has_bias = true});
    }
  }
}

TEST(ConvOpTest, Depthwise) {
  for (const std::int64_t channels : {1, 3, 16, 17, 40}) {
    for (const std::int64_t kernel : {1, 2, 3, 5, 7}) {
      for (const std::int64_t stride : {1, 2, 3}) {
        check({.type = "GroupConvolution",
               .size = {11, 16},
               .kernel = {kernel, kernel},
               .stride = {stride, stride},
               .pads_begin = {kernel / 2, 0},
               .pads_end = {0, kernel / 2},
               .G = channels,
               .IC = 1,
               .OC = 1,
               .has_bias = true,
               .activation = Activation::kClamp,
               .beta = 6.0F});
      }
    }
  }
  ConvCase c{.type = "GroupConvolution",
             .size = {9, 30},
             .dilation = {2, 3},
             .pads_begin = {2, 3},
             .pads_end = {1, 4},
             .N = 2,
             .G = 20,
             .IC = 1,
             .OC = 1,
             .has_residual = true};
  check(c);
  c.kernel = {5, 3};
  c.stride = {3, 2};
  check(c);
  c.dilation = {1, 1};
  check(c);
}

TEST(ConvOpTest, DepthwiseWithMultiplier) {
  for (const std::int64_t multiplier : {2, 3}) {
    check({.type = "GroupConvolution",
           .pads_begin = {1, 1},
           .pads_end = {1, 1},
           .G = 5,
           .IC = 1,
           .OC = multiplier,
           .has_bias = true});
  }
}

TEST(ConvOpTest, OneAndThreeDimensions) {
  for (const char* type : {"Convolution", "ConvolutionBackpropData"}) {
    check({.type = type,
           .size = {20},
           .kernel = {3},
           .stride = {2},
           .pads_begin = {1},
           .pads_end = {0},
           .N = 2,
           .has_bias = true});
    check({.type = type,
           .size = {3, 4, 5},
           .kernel = {2, 3, 1},
           .stride = {1, 2, 3},
           .dilation = {2, 1, 1},
           .pads_begin = {1, 0, 1},
           .pads_end = {0, 1, 2},
           .N = 2,
           .has_bias = true});
  }
  for (const char* type : {"GroupConvolution", "GroupConvolutionBackpropData"}) {
    check({.type = type, .size = {20}, .kernel = {5}, .pads_begin = {2}, .pads_end = {2}, .G = 18, .IC = 1, .OC = 1});
    check({.type = type, .size = {4, 3, 5}, .kernel = {3, 2, 2}, .G = 3, .IC = 2, .OC = 5, .has_residual = true});
    check({.type = type, .size = {4, 3, 5}, .kernel = {3, 1, 2}, .G = 4, .IC = 1, .OC = 1});
  }
}

TEST(ConvOpTest, Transposed) {
  for (const std::int64_t stride : {1, 2, 3, 4}) {
    for (const std::int64_t kernel : {1, 2, 3, 4}) {
      check({.type = "ConvolutionBackpropData",
             .size = {5, 4},
             .kernel = {kernel, kernel},
             .stride = {stride, stride},
             .output_padding = {stride - 1, 0},
             .N = 2,
             .has_bias = true});
    }
  }
  for (const std::int64_t dilation : {2, 3}) {
    check({.type = "ConvolutionBackpropData",
           .size = {5, 4},
           .stride = {2, 3},
           .dilation = {dilation, dilation},
           .pads_begin = {1, 2},
           .pads_end = {0, 1}});
  }
}

TEST(ConvOpTest, TransposedWithWantedShape) {
  for (const char* auto_pad : {"explicit", "same_upper", "same_lower", "valid"}) {
    OpCase c =
        make_case({.type = "ConvolutionBackpropData", .size = {5, 4}, .stride = {2, 2}, .auto_pad = auto_pad}, 3);
    c.inputs.push_back(ints({2}, {10, 9}));
    c.constants.push_back(2);
    check_op(c);
  }
}

TEST(ConvOpTest, Activations) {
  for (int act = 0; act <= static_cast<int>(Activation::kHardSigmoid); ++act) {
    ConvCase c{.has_bias = true,
               .has_residual = true,
               .activation = static_cast<Activation>(act),
               .alpha = 0.3F,
               .beta = 0.8F};
    check(c);
    c.type = "GroupConvolution";
    c.G = 18;
    c.IC = c.OC = 1;
    check(c);
  }
}

// The products are exact, so that every form has to choose the same level.
TEST(ConvOpTest, QuantizesItsResult) {
  for (const char* type : {"Convolution", "GroupConvolution"}) {
    for (const std::int64_t channels : {1, 16, 35}) {
      const bool is_depthwise = std::string_view(type) == "GroupConvolution";
      ConvCase shape{.type = type, .size = {9, 11}, .has_bias = true, .activation = Activation::kFakeQuantize};
      shape.G = is_depthwise ? channels : 1;
      shape.IC = shape.OC = is_depthwise ? 1 : channels;
      shape.alpha = -0.4F;
      shape.beta = 1.1F;
      OpCase c = make_case(shape, 7);
      auto weights = c.inputs[1].mutable_values<float>();
      std::fill(weights.begin(), weights.end(), 0.0F);
      for (std::size_t i = 0; i < static_cast<std::size_t>(channels); ++i) {
        const std::size_t row = weights.size() / static_cast<std::size_t>(channels) * i;
        weights[row + (is_depthwise ? 4 : i * 9 + 4)] = 1.0F;  // the middle of 3x3
      }
      c.tolerance = 1e-6;
      check_op(c);
    }
  }
}

TEST(ConvOpTest, NotANumberAndInfinityGoThrough) {
  OpCase c = make_case({.size = {2, 8}, .kernel = {1, 1}, .IC = 1, .OC = 3, .activation = Activation::kRelu}, 5);
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  c.inputs[0] = floats({1, 1, 2, 8}, {nan, inf, -inf, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, nan, nan});
  c.inputs[1] = floats({3, 1, 1, 1}, {1, -1, 2});
  check_op(c);
  c.epilogue.activation = Activation::kClamp;
  c.epilogue.alpha = -1;
  c.epilogue.beta = 1;
  check_op(c);
}

TEST(ConvOpTest, IdentityIsExact) {
  for (const std::int64_t width : {1, 3, 7, 13, 757}) {
    for (const std::int64_t batch : {1, 3}) {
      for (const std::int64_t channels : {1, 3, 5, 17}) {
        OpCase c = make_case({.size = {1, width}, .kernel = {1, 1}, .N = batch, .IC = channels, .OC = channels}, 11);
        std::vector<float> identity(static_cast<std::size_t>(channels * channels), 0.0F);
        for (std::int64_t i = 0; i < channels; ++i) identity[static_cast<std::size_t>(i * (channels + 1))] = 1.0F;
        c.inputs[1] = floats({channels, channels, 1, 1}, identity);
        c.tolerance = 0;
        check_op(c);
        if (width == 13) check_op_tile_family(c, 64);
      }
    }
  }
}

TEST(ConvOpTest, SumsOfManyChannelsAreExact) {
  OpCase c = make_case({.size = {1, 1}, .kernel = {1, 1}, .IC = 4096, .OC = 1}, 1);
  for (Tensor& input : c.inputs) std::fill_n(input.mutable_values<float>().data(), 4096, 1.0F);
  c.tolerance = 0;
  check_op(c);
}

TEST(ConvOpTest, MixedParameters) {
  std::mt19937 generator(20);
  const auto pick = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[generator() % values.size()];
  };
  const char* types[] = {"Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData"};
  int count = 0;
  for (std::uint32_t i = 0; i < 120; ++i) {
    ConvCase c;
    c.type = types[i % 4];
    c.size = {pick({1, 2, 5, 7, 13}), pick({1, 2, 5, 7, 20})};
    c.kernel = {pick({1, 2, 3, 5}), pick({1, 2, 3, 7})};
    c.stride = {pick({1, 2, 3, 4}), pick({1, 2, 3})};
    c.dilation = {pick({1, 2, 3}), pick({1, 1, 2})};
    c.pads_begin = {pick({0, 1, 2}), pick({0, 1, 2})};
    c.pads_end = {pick({0, 1, 2}), pick({0, 1, 2})};
    c.N = pick({1, 2, 3});
    c.G = i % 2 == 1 ? pick({1, 2, 3}) : 1;
    c.IC = pick({1, 3, 5, 16, 17, 33});
    c.OC = pick({1, 3, 15, 16, 17, 24, 64});
    c.has_bias = pick({0, 1}) == 1;
    c.has_residual = pick({0, 1}) == 1;
    c.activation = pick({0, 1}) == 1 ? Activation::kRelu : Activation::kNone;
    bool is_possible = true;
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t pads = c.pads_begin[d] + c.pads_end[d];
      const std::int64_t extent = (c.kernel[d] - 1) * c.dilation[d] + 1;
      is_possible = is_possible &&
                    (is_transposed(c) ? (c.size[d] - 1) * c.stride[d] + extent > pads : c.size[d] + pads >= extent);
    }
    if (!is_possible) continue;
    ++count;
    check(c, i);
  }
  EXPECT_GE(count, 60);
}

void check_tile(const ConvCase& c, std::size_t max_work_group = 256) {
  std::ostringstream text;
  PrintTo(c, &text);
  SCOPED_TRACE(text.str() + " work-group " + std::to_string(max_work_group));
  check_op_tile_family(make_case(c, 9), max_work_group);
}

TEST(ConvOpTest, TileFamily) {
  for (const std::size_t max_work_group : {256, 64, 16, 1}) {
    check_tile({.size = {9, 20},
                .stride = {2, 1},
                .dilation = {1, 2},
                .pads_begin = {2, 0},
                .pads_end = {0, 1},
                .N = 2,
                .IC = 17,
                .OC = 70,
                .has_bias = true,
                .has_residual = true,
                .activation = Activation::kSwish,
                .alpha = 1},
               max_work_group);
    check_tile({.type = "GroupConvolution", .stride = {2, 1}, .pads_begin = {2, 0}, .G = 3, .has_bias = true},
               max_work_group);
    check_tile({.type = "GroupConvolutionBackpropData",
                .size = {2, 3, 4},
                .kernel = {3, 2, 1},
                .stride = {2, 1, 3},
                .pads_begin = {1, 0, 0},
                .N = 2,
                .G = 2,
                .has_residual = true},
               max_work_group);
    check_tile({.type = "GroupConvolution",
                .stride = {2, 1},
                .dilation = {2, 1},
                .pads_begin = {2, 1},
                .N = 2,
                .G = 70,
                .IC = 1,
                .OC = 1,
                .has_bias = true,
                .has_residual = true,
                .activation = Activation::kRelu},
               max_work_group);
  }
}

TEST(ConvOpTest, NarrowVectors) {
  for (const int width : {8, 4}) {
    const auto narrow = [width](KernelCaps& caps) { caps.vector_width = width; };
    for (const std::int64_t channels : {3, 8, 20, 37}) {
      check_op_as(make_case({.pads_begin = {1, 0},
                             .pads_end = {0, 1},
                             .N = 2,
                             .IC = channels,
                             .OC = channels,
                             .has_bias = true,
                             .has_residual = true,
                             .activation = Activation::kRelu},
                            2),
                  narrow);
      check_op_as(
          make_case({.size = {1, 1}, .kernel = {1, 1}, .IC = channels, .OC = 5 * channels, .has_bias = true}, 3),
          narrow);
      check_op_as(make_case({.type = "GroupConvolution",
                             .pads_begin = {1, 0},
                             .pads_end = {0, 1},
                             .G = channels,
                             .IC = 1,
                             .OC = 1,
                             .has_bias = true},
                            4),
                  narrow);
    }
  }
}

TEST(ConvOpTest, RefusesWhatHasNoKernel) {
  OpCase c = make_case({}, 1);
  c.constants.clear();
  check_op_refused(c, "weights are not constant");
}

}  // namespace
}  // namespace headrace::test
