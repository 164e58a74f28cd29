// SPDX-License-Identifier: Apache-2.0
// What layers compute, with values by Caffe's formulae; tests/caffe compares with OpenCV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/near.hpp"
#include "unit/formats/caffe/caffe_model.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> result(std::string_view layer, const std::vector<Tensor>& inputs,
                          const std::vector<Message>& blobs = {}) {
  return values_of(run_layer(layer, inputs, blobs)[0]);
}

// Case 7: Caffe's pools round up and divide by the window as far as the padded border.
TEST(CaffeLayersTest, PoolsAsCaffe) {
  const Tensor picture = counting({1, 1, 4, 4});
  EXPECT_THAT(result("type: 'Pooling' pooling_param { kernel_size: 3 stride: 2 }", {picture}),
              ElementsAre(10, 11, 14, 15));
  EXPECT_THAT(result("type: 'Pooling' pooling_param { pool: AVE kernel_size: 3 stride: 2 }", {picture}),
              ElementsAre(5, 6.5F, 11, 12.5F));
  const Tensor ones = floats({1, 1, 3, 3}, std::vector<float>(9, 1));
  EXPECT_THAT(result("type: 'Pooling' pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }", {ones}),
              Near(std::vector<float>(4, 4 / 9.0F)));
  const Tensor large = Tensor(ElementType::f32, {1, 1, 112, 112});
  EXPECT_EQ(run_layer("type: 'Pooling' pooling_param { kernel_size: 3 stride: 2 }", {large})[0].shape(),
            (Shape{1, 1, 56, 56}));
}

// Case 7: without pads a last window may lie outside; Caffe's maximum of nothing is the lowest float.
TEST(CaffeLayersTest, KeepsAWindowOutsideOfAnUnpaddedPool) {
  const Tensor y = run_layer("type: 'Pooling' pooling_param { kernel_size: 1 stride: 2 }", {counting({1, 1, 6, 6})})[0];
  ASSERT_EQ(y.shape(), (Shape{1, 1, 4, 4}));
  EXPECT_EQ(values_of(y)[5], 14);
  EXPECT_EQ(values_of(y)[15], std::numeric_limits<float>::lowest());
}

TEST(CaffeLayersTest, DropsAWindowThatBeginsBehindThePads) {
  // (5 + 2 - 2) / 2 rounded up + 1 = 4, the last of which begins at 6 >= 5 + 1: 3 are left.
  const Tensor y =
      run_layer("type: 'Pooling' pooling_param { kernel_size: 2 stride: 2 pad: 1 }", {counting({1, 1, 5, 5})})[0];
  EXPECT_THAT(values_of(y), ElementsAre(0, 2, 4, 10, 12, 14, 20, 22, 24));
  const Tensor floor = run_layer("type: 'Pooling' pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }",
                                 {counting({1, 1, 4, 4})})[0];
  EXPECT_THAT(values_of(floor), ElementsAre(10));
}

TEST(CaffeLayersTest, PoolsWholePictures) {
  const Tensor x = counting({1, 2, 2, 2});
  EXPECT_THAT(result("type: 'Pooling' pooling_param { pool: AVE global_pooling: true }", {x}), ElementsAre(1.5F, 5.5F));
  EXPECT_THAT(result("type: 'Pooling' pooling_param { global_pooling: true }", {x}), ElementsAre(3, 7));
  EXPECT_THAT(error_of([&] { result("type: 'Pooling' pooling_param { pool: STOCHASTIC kernel_size: 2 }", {x}); }),
              HasSubstr("Pooling: pool STOCHASTIC"));
}

// Case 30: a transposed convolution's groups.
TEST(CaffeLayersTest, ConvolvesInGroupsAndBack) {
  EXPECT_THAT(result("type: 'Convolution' convolution_param { num_output: 2 group: 2 kernel_size: 1 bias_term: false }",
                     {floats({1, 2, 1, 1}, {3, 5})}, {blob({2, 1, 1, 1}, {10, 100})}),
              ElementsAre(30, 500));
  EXPECT_THAT(
      result("type: 'Deconvolution' convolution_param { num_output: 4 group: 2 kernel_size: 1 bias_term: false }",
             {floats({1, 2, 1, 1}, {1, 10})}, {blob({2, 2, 1, 1}, {1, 2, 3, 4})}),
      ElementsAre(1, 2, 30, 40));
  const Tensor y = run_layer("type: 'Deconvolution' convolution_param { num_output: 1 kernel_size: 2 stride: 2 }",
                             {floats({1, 1, 1, 2}, {1, 2})}, {blob({1, 1, 2, 2}, {1, 2, 3, 4}), blob({1}, {100})})[0];
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 4}));
  EXPECT_THAT(values_of(y), ElementsAre(101, 102, 102, 104, 103, 104, 106, 108));
}

TEST(CaffeLayersTest, ConvolvesWithPairsOfNumbers) {
  // A column of two pixels at a distance of two rows, padded at the sides.
  const Tensor y = run_layer(
      "type: 'Convolution' convolution_param { num_output: 1 kernel_h: 2 kernel_w: 1 pad_h: 0 "
      "pad_w: 1 stride_h: 1 stride_w: 2 dilation: 2 dilation: 1 bias_term: false }",
      {counting({1, 1, 3, 3})}, {blob({1, 1, 2, 1}, {1, 10})})[0];
  EXPECT_EQ(y.shape(), (Shape{1, 1, 1, 3}));
  EXPECT_THAT(values_of(y), ElementsAre(0, 1 + 70, 0));
  EXPECT_THAT(error_of([&] {
                result("type: 'Convolution' convolution_param { num_output: 2 kernel_size: 0 }",
                       {counting({1, 1, 3, 3})}, {blob({1}, {1})});
              }),
              HasSubstr("kernel_size is [0,0]"));
}

TEST(CaffeLayersTest, JoinsChannelsIntoRows) {
  const std::vector<Message> weights = {legacy_blob({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), blob({2}, {100, 200})};
  EXPECT_THAT(
      result("type: 'InnerProduct' inner_product_param { num_output: 2 }", {counting({1, 2, 1, 2}, 1)}, weights),
      ElementsAre(130, 270));
  EXPECT_THAT(result("type: 'InnerProduct' inner_product_param { num_output: 2 transpose: true bias_term: false }",
                     {counting({1, 4}, 1)}, {weights[0]}),
              ElementsAre(50, 60));
  const Tensor kept = run_layer("type: 'InnerProduct' inner_product_param { num_output: 1 axis: 2 bias_term: false }",
                                {counting({1, 2, 1, 2}, 1)}, {blob({1, 2}, {1, 10})})[0];
  EXPECT_EQ(kept.shape(), (Shape{1, 2, 1}));
  EXPECT_THAT(values_of(kept), ElementsAre(21, 43));
}

// Case R5: alpha is divided by the size; within a channel by the whole window.
TEST(CaffeLayersTest, NormalizesLocally) {
  EXPECT_THAT(result("type: 'LRN' lrn_param { local_size: 3 alpha: 3 beta: 1 }", {floats({1, 3, 1, 1}, {1, 2, 3})}),
              Near(std::vector<float>{0.166667F, 0.133333F, 0.214286F}));
  EXPECT_THAT(result("type: 'LRN' lrn_param { local_size: 3 alpha: 9 beta: 1 norm_region: WITHIN_CHANNEL k: 5 }",
                     {floats({1, 1, 1, 2}, {1, 2})}),
              Near(std::vector<float>{1 / 6.0F, 2 / 6.0F}));
  EXPECT_THAT(error_of([] {
                result("type: 'LRN' lrn_param { local_size: 4 }", {counting({1, 3, 1, 1})});
              }),
              HasSubstr("even size 4"));
}

TEST(CaffeLayersTest, BatchNormDividesItsSums) {
  const std::vector<Message> blobs = {blob({2}, {2, 4}), blob({2}, {8, 18}), blob({1}, {2})};
  EXPECT_THAT(result("type: 'BatchNorm' batch_norm_param { eps: 0 }", {floats({1, 2, 1, 1}, {5, 8})}, blobs),
              Near(std::vector<float>{2, 2}));
  EXPECT_THAT(result("type: 'BatchNorm' batch_norm_param { eps: 1 use_global_stats: true }",
                     {floats({1, 2, 1, 1}, {5, 8})}, {blobs[0], blobs[1], blob({1}, {0})}),
              Near(std::vector<float>{5, 8}));
  // Case 37: statistics of the batch are no inference.
  EXPECT_THAT(
      error_of([&] {
        result("type: 'BatchNorm' batch_norm_param { use_global_stats: false }", {counting({1, 2, 1, 1})}, blobs);
      }),
      HasSubstr("use_global_stats false"));
}

TEST(CaffeLayersTest, ScalesAlongAxes) {
  const Tensor x = counting({1, 2, 1, 2}, 1);
  EXPECT_THAT(result("type: 'Scale' scale_param { bias_term: true }", {x}, {blob({2}, {10, 100}), blob({2}, {1, 2})}),
              ElementsAre(11, 21, 302, 402));
  EXPECT_THAT(result("type: 'Scale' scale_param { axis: -1 }", {x}, {blob({2}, {10, 100})}),
              ElementsAre(10, 200, 30, 400));
  EXPECT_THAT(result("type: 'Scale' scale_param { axis: 1 num_axes: -1 }", {x}, {blob({2, 1, 2}, {1, 2, 3, 4})}),
              ElementsAre(1, 4, 9, 16));
  EXPECT_THAT(result("type: 'Scale' scale_param { num_axes: 0 }", {x}, {blob({}, {5})}), ElementsAre(5, 10, 15, 20));
  EXPECT_THAT(result("type: 'Scale' scale_param { axis: 0 }", {x, floats({1, 2}, {10, 100})}),
              ElementsAre(10, 20, 300, 400));
  EXPECT_THAT(result("type: 'Bias' bias_param { axis: 1 }", {x}, {blob({2}, {10, 20})}), ElementsAre(11, 12, 23, 24));
  EXPECT_THAT(error_of([&] {
                result("type: 'Scale'", {x}, {blob({3}, {1, 2, 3})});
              }),
              HasSubstr("3 elements along axis 1, its input has 2"));
}

// Case 17: one slope for each channel, or one for all.
TEST(CaffeLayersTest, SlopesArePerChannel) {
  const Tensor x =
      floats({1, 3, 2, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18});
  const std::vector<float> y = result("type: 'PReLU'", {x}, {blob({3}, {.5F, 1.5F, 2.5F})});
  EXPECT_THAT(y, ElementsAre(-.5F, -1, -1.5F, -2, -2.5F, -3, -10.5F, -12, -13.5F, -15, -16.5F, -18, -32.5F, -35, -37.5F,
                             -40, -42.5F, -45));
  EXPECT_THAT(result("type: 'PReLU' prelu_param { channel_shared: true }", {floats({1, 2, 1, 1}, {-1, 2})},
                     {blob({1}, {.25F})}),
              ElementsAre(-.25F, 2));
  EXPECT_THAT(result("type: 'ReLU' relu_param { negative_slope: 0.5 }", {floats({2}, {-1, 2})}), ElementsAre(-.5F, 2));
}

TEST(CaffeLayersTest, ComputesElementByElement) {
  const Tensor x = floats({3}, {-1, 0, 2});
  const float e = std::exp(1.0F);
  EXPECT_THAT(result("type: 'Power' power_param { power: 2 scale: 3 shift: 1 }", {x}),
              Near(std::vector<float>{4, 1, 49}));
  EXPECT_THAT(result("type: 'Exp'", {x}), Near(std::vector<float>{1 / e, 1, e * e}));
  EXPECT_THAT(result("type: 'Exp' exp_param { base: 2 scale: 2 shift: 1 }", {x}), Near(std::vector<float>{.5F, 2, 32}));
  EXPECT_THAT(result("type: 'Log' log_param { base: 2 shift: 2 }", {x}), Near(std::vector<float>{0, 1, 2}));
  EXPECT_THAT(result("type: 'BNLL'", {x}), Near(std::vector<float>{.313262F, .693147F, 2.126928F}));
  EXPECT_THAT(result("type: 'Threshold' threshold_param { threshold: 0 }", {x}), ElementsAre(0, 0, 1));
  EXPECT_THAT(result("type: 'Clip' clip_param { min: -0.5 max: 1 }", {x}), ElementsAre(-.5F, 0, 1));
  EXPECT_THAT(result("type: 'ReLU6'", {floats({2}, {7, 3})}), ElementsAre(6, 3));
  EXPECT_THAT(result("type: 'ELU' elu_param { alpha: 2 }", {x}), Near(std::vector<float>{2 / e - 2, 0, 2}));
  EXPECT_THAT(result("type: 'Swish' swish_param { beta: 2 }", {x}), Near(std::vector<float>{-.119203F, 0, 1.964028F}));
  EXPECT_THAT(result("type: 'AbsVal'", {x}), ElementsAre(1, 0, 2));
}

TEST(CaffeLayersTest, JoinsBlobsElementByElement) {
  const std::vector<Tensor> xs = {floats({2}, {1, 2}), floats({2}, {3, 4}), floats({2}, {5, -6})};
  EXPECT_THAT(result("type: 'Eltwise' eltwise_param { coeff: 1 coeff: -2 coeff: 0.5 }", xs), ElementsAre(-2.5F, -9));
  EXPECT_THAT(result("type: 'Eltwise'", xs), ElementsAre(9, 0));
  EXPECT_THAT(result("type: 'Eltwise' eltwise_param { operation: PROD }", xs), ElementsAre(15, -48));
  EXPECT_THAT(result("type: 'Eltwise' eltwise_param { operation: MAX }", xs), ElementsAre(5, 4));
  EXPECT_THAT(error_of([&] { result("type: 'Eltwise' eltwise_param { coeff: 1 }", xs); }),
              HasSubstr("1 coefficients for 3 inputs"));
  EXPECT_THAT(error_of([&] { result("type: 'Eltwise'", {xs[0], floats({1}, {1})}); }), HasSubstr("[2] and [1]"));
}

TEST(CaffeLayersTest, CutsAndJoins) {
  EXPECT_THAT(result("type: 'Concat' concat_param { concat_dim: 0 }", {floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4})}),
              ElementsAre(1, 2, 3, 4));
  const std::vector<Tensor> cut =
      run_layer("type: 'Slice' slice_param { axis: -1 slice_point: 1 slice_point: 3 }", {counting({1, 4})}, {}, 3);
  EXPECT_THAT(values_of(cut[1]), ElementsAre(1, 2));
  EXPECT_THAT(values_of(cut[2]), ElementsAre(3));
  EXPECT_THAT(values_of(run_layer("type: 'Slice'", {counting({1, 4})}, {}, 2)[1]), ElementsAre(2, 3));
  EXPECT_THAT(error_of([] {
                run_layer("type: 'Slice' slice_param { slice_point: 3 slice_point: 1 }", {counting({1, 4})}, {}, 3);
              }),
              HasSubstr("do not grow"));
  EXPECT_THAT(result("type: 'Crop' crop_param { axis: 2 offset: 1 offset: 0 }",
                     {counting({1, 1, 3, 3}), counting({1, 1, 2, 2})}),
              ElementsAre(3, 4, 6, 7));
  EXPECT_THAT(error_of([] {
                result("type: 'Crop' crop_param { offset: 2 }", {counting({1, 1, 3, 3}), counting({1, 1, 2, 2})});
              }),
              HasSubstr("leaves the input"));
  EXPECT_THAT(result("type: 'Tile' tile_param { axis: 1 tiles: 2 }", {counting({2, 1}, 1)}), ElementsAre(1, 1, 2, 2));
}

// Case 44: 0 copies and -1 fits.
TEST(CaffeLayersTest, Reshapes) {
  const auto shape_of = [](std::string_view layer) { return run_layer(layer, {counting({2, 3, 4})})[0].shape(); };
  EXPECT_EQ(shape_of("type: 'Reshape' reshape_param { shape { dim: 0 dim: -1 } }"), (Shape{2, 12}));
  EXPECT_EQ(shape_of("type: 'Reshape' reshape_param { shape { dim: 3 dim: 1 } axis: 1 num_axes: 1 }"),
            (Shape{2, 3, 1, 4}));
  EXPECT_EQ(shape_of("type: 'Reshape' reshape_param { shape { dim: 1 } axis: -1 num_axes: 0 }"), (Shape{2, 3, 4, 1}));
  EXPECT_EQ(shape_of("type: 'Flatten' flatten_param { axis: 0 end_axis: 1 }"), (Shape{6, 4}));
  EXPECT_EQ(shape_of("type: 'Flatten'"), (Shape{2, 12}));
  EXPECT_EQ(shape_of("type: 'Permute' permute_param { order: 2 }"), (Shape{4, 2, 3}));
}

TEST(CaffeLayersTest, FindsTheLargest) {
  const Tensor x = floats({1, 2, 2}, {1, 9, 9, 3});
  EXPECT_THAT(result("type: 'ArgMax'", {x}), ElementsAre(2));  // of equal ones the last
  const Tensor pairs = run_layer("type: 'ArgMax' argmax_param { top_k: 3 out_max_val: true }", {x})[0];
  EXPECT_EQ(pairs.shape(), (Shape{1, 2, 3}));
  EXPECT_THAT(values_of(pairs), ElementsAre(2, 1, 3, 9, 9, 3));
  EXPECT_THAT(result("type: 'ArgMax' argmax_param { axis: 1 }", {x}), ElementsAre(1, 0));
  EXPECT_THAT(result("type: 'ArgMax' argmax_param { axis: 1 out_max_val: true }", {x}), ElementsAre(9, 9));
}

TEST(CaffeLayersTest, Reduces) {
  const Tensor x = floats({2, 2}, {1, -2, 3, 4});
  EXPECT_THAT(result("type: 'Reduction'", {x}), ElementsAre(6));
  EXPECT_THAT(result("type: 'Reduction' reduction_param { operation: ASUM axis: 1 coeff: 2 }", {x}),
              ElementsAre(6, 14));
  EXPECT_THAT(result("type: 'Reduction' reduction_param { operation: SUMSQ axis: 1 }", {x}), ElementsAre(5, 25));
  EXPECT_THAT(result("type: 'Reduction' reduction_param { operation: MEAN axis: -1 }", {x}), ElementsAre(-.5F, 3.5F));
}

TEST(CaffeLayersTest, NormalizesByMeansAndNorms) {
  EXPECT_THAT(result("type: 'MVN'", {floats({1, 2, 1, 2}, {1, 3, 0, 4})}), Near(std::vector<float>{-1, 1, -1, 1}));
  EXPECT_THAT(result("type: 'MVN' mvn_param { across_channels: true normalize_variance: false }",
                     {floats({1, 2, 1, 1}, {1, 3})}),
              Near(std::vector<float>{-1, 1}));
  const Tensor x = floats({1, 2, 1, 2}, {3, 0, 4, 2});
  EXPECT_THAT(result("type: 'Normalize' norm_param { across_spatial: false channel_shared: false }", {x},
                     {blob({2}, {10, 20})}),
              Near(std::vector<float>{6, 0, 16, 20}));
  EXPECT_THAT(result("type: 'Normalize' norm_param { scale_filler { type: 'constant' } }",
                     {floats({1, 2, 1, 1}, {3, 4})}, {blob({1}, {10})}),
              Near(std::vector<float>{6, 8}));
  // Case R2: the maximum is taken off first.
  EXPECT_THAT(result("type: 'Softmax'", {floats({1, 3}, {1000, 1000, -1000})}), Near(std::vector<float>{.5F, .5F, 0}));
}

TEST(CaffeLayersTest, ReadsWordsAndConstants) {
  EXPECT_THAT(result("type: 'Embed' embed_param { num_output: 2 input_dim: 3 }", {floats({2}, {2, 0})},
                     {blob({3, 2}, {1, 2, 3, 4, 5, 6}), blob({2}, {10, 20})}),
              ElementsAre(15, 26, 11, 22));
  const std::string net = with_input("2",
                                     "layer { name: 'd' type: 'DummyData' top: 'd' dummy_data_param { shape { dim: 2 } "
                                     "data_filler { type: 'constant' value: 3 } } }\n"
                                     "layer { name: 's' type: 'Eltwise' bottom: 'x' bottom: 'd' top: 'y' }");
  EXPECT_THAT(values_of(run(parse_model(net), {counting({2})})[0]), ElementsAre(3, 4));
}

}  // namespace
}  // namespace headrace::test
