// SPDX-License-Identifier: Apache-2.0
// What layers compute, in the spellings of all versions; tests/caffe reads whole networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/near.hpp"
#include "unit/formats/old_ir/old_ir_model.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

Tensor counting(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<std::size_t>(count_elems(shape)));
  std::iota(values.begin(), values.end(), first);
  return make_f32_tensor(shape, values);
}

std::vector<float> result(const OldCase& old, const std::vector<Tensor>& inputs) {
  const Tensor tensor = run_old(old, inputs)[0];
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// A 2x1 window at a distance of two rows, stride 2 and pads beside it: in the words of 2017, of version 2 and of 3.
TEST(OldIrLayersTest, ConvolvesInAllSpellings) {
  const std::vector<std::pair<int, std::string>> spellings = {
      {2,
       "<convolution_data kernel-x=\"1\" kernel-y=\"2\" stride-x=\"2\" stride-y=\"0\" pad-x=\"1\" pad-y=\"0\" "
       "dilation-x=\"0\" dilation-y=\"2\" output=\"1\" group=\"1\"/>"},
      {2,
       "<data kernel-x=\"1\" kernel-y=\"2\" stride=\"1,1,1,2\" stride-x=\"2\" stride-y=\"1\" pad-x=\"1\" pad-y=\"0\" "
       "pad-r=\"1\" pad-b=\"0\" dilation-x=\"1\" dilation-y=\"2\" output=\"1\"/>"},
      {3,
       "<data kernel=\"2,1\" strides=\"1,2\" pads_begin=\"0,1\" pads_end=\"0,1\" dilations=\"2,1\" output=\"1\" "
       "kernel-x=\"1\" group=\"1\"/>"},
      {7, "<data kernel=\"2,1\" strides=\"1,2\" pads_begin=\"0,1\" dilations=\"2,1\" output=\"1\"/>"}};
  for (const auto& [version, data] : spellings) {
    const OldCase old{"Convolution", data, {{1, 1, 1, 3}}, {1, 10}, {100}, version};
    EXPECT_THAT(result(old, {counting({1, 1, 3, 3})}), ElementsAre(100, 171, 100)) << data;
  }
}

TEST(OldIrLayersTest, ConvolvesInGroupsAndBack) {
  EXPECT_THAT(
      result({"Convolution", "<data kernel=\"1,1\" output=\"2\" group=\"2\"/>", {{1, 2, 1, 1}}, {10, 100}, {}, 5},
             {floats({1, 2, 1, 1}, {3, 5})}),
      ElementsAre(30, 500));
  EXPECT_THAT(result({"Deconvolution",
                      "<deconvolution kernel-x=\"1\" kernel-y=\"1\" output=\"4\" group=\"2\"/>",
                      {{1, 4, 1, 1}},
                      {1, 2, 3, 4},
                      {},
                      2},
                     {floats({1, 2, 1, 1}, {1, 10})}),
              ElementsAre(1, 2, 30, 40));
  EXPECT_THAT(error_of([] {
                result({"Convolution", "<data kernel=\"1,1\" output=\"2\"/>", {{1, 2, 1, 1}}, {1, 2, 3}, {}, 5},
                       {floats({1, 2, 1, 1}, {3, 5})});
              }),
              HasSubstr("<weights>: has 12 bytes, but shape [2,2,1,1]"));
  // auto_pad counts, not the zeros beside it.
  EXPECT_THAT(result({"Convolution",
                      "<data kernel=\"1,2\" output=\"1\" auto_pad=\"same_upper\" pads_begin=\"0,0\"/>",
                      {{1, 1, 1, 3}},
                      {1, 1},
                      {},
                      6},
                     {counting({1, 1, 1, 3})}),
              ElementsAre(1, 3, 2));
}

// Case 7: the size in the file settles the rounding.
TEST(OldIrLayersTest, PoolsToTheSizeInTheFile) {
  const std::string data =
      "<data kernel=\"3,3\" strides=\"2,2\" pool-method=\"max\" exclude-pad=\"true\" rounding_type=\"ceil\"/>";
  EXPECT_THAT(result({"Pooling", data, {{1, 1, 2, 2}}, {}, {}, 5}, {counting({1, 1, 4, 4})}),
              ElementsAre(10, 11, 14, 15));
  EXPECT_THAT(result({"Pooling", data, {{1, 1, 1, 1}}, {}, {}, 5}, {counting({1, 1, 4, 4})}), ElementsAre(10));
  EXPECT_THAT(error_of([&] {
                result({"Pooling", data, {{1, 1, 3, 3}}, {}, {}, 5}, {counting({1, 1, 4, 4})});
              }),
              HasSubstr("its output has shape [1,1,3,3] in the file, but [1,1,2,2]"));
  const std::string mean =
      "<pooling_data kernel-x=\"3\" kernel-y=\"3\" stride-x=\"2\" stride-y=\"2\" pad-x=\"1\" pad-y=\"1\" "
      "pool-method=\"avg\" exclude-pad=";
  const Tensor ones = floats({1, 1, 3, 3}, std::vector<float>(9, 1));
  EXPECT_THAT(result({"Pooling", mean + "\"false\"/>", {{1, 1, 2, 2}}, {}, {}, 2}, {ones}),
              Near(std::vector<float>(4, 4 / 9.0F)));
  EXPECT_THAT(result({"Pooling", mean + "\"true\"/>", {{1, 1, 2, 2}}, {}, {}, 2}, {ones}), ElementsAre(1, 1, 1, 1));
}

TEST(OldIrLayersTest, JoinsChannelsIntoRows) {
  EXPECT_THAT(result({"FullyConnected", "<fc out-size=\"2\"/>", {{1, 2}}, {1, 2, 3, 4, 5, 6, 7, 8}, {100, 200}, 2},
                     {counting({1, 2, 1, 2}, 1)}),
              ElementsAre(130, 270));
  EXPECT_THAT(result({"InnerProduct", "<data out-size=\"1\"/>", {{1, 2, 1}}, {1, 10}, {}, 7}, {counting({1, 2, 2}, 1)}),
              ElementsAre(21, 43));
}

TEST(OldIrLayersTest, ScalesAndNormalizes) {
  const Shape shape = {1, 2, 1, 2};
  const Tensor x = counting(shape, 1);
  EXPECT_THAT(result({"ScaleShift", "", {shape}, {10, 100}, {1, 2}, 3}, {x}), ElementsAre(11, 21, 302, 402));
  EXPECT_THAT(result({"ScaleShift", "<data broadcast=\"1\"/>", {shape}, {10}, {}, 3}, {x}),
              ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(result({"ScaleShift", "<data broadcast=\"0\"/>", {shape}, {1, 2, 3, 4}, {}, 3}, {x}),
              ElementsAre(1, 4, 9, 16));
  EXPECT_THAT(result({"BatchNormalization", "<data epsilon=\"0\"/>", {shape}, {4, 9}, {1, 0}, 5}, {x}),
              Near(std::vector<float>{0, .5F, 1, 4 / 3.0F}));
  EXPECT_THAT(
      result({"PReLU", "<data channel_shared=\"0\"/>", {shape}, {.5F, 2}, {}, 5}, {floats(shape, {-1, 1, -1, 1})}),
      ElementsAre(-.5F, 1, -2, 1));
  EXPECT_THAT(
      result(
          {"Normalize", "<data across_spatial=\"0\" channel_shared=\"0\" eps=\"0\"/>", {{1, 2, 1, 1}}, {10, 20}, {}, 5},
          {floats({1, 2, 1, 1}, {3, 4})}),
      Near(std::vector<float>{6, 16}));
  // Case R5.
  EXPECT_THAT(
      result(
          {"Norm", "<norm_data alpha=\"3\" beta=\"1\" local-size=\"3\" region=\"across\"/>", {{1, 3, 1, 1}}, {}, {}, 2},
          {floats({1, 3, 1, 1}, {1, 2, 3})}),
      Near(std::vector<float>{0.166667F, 0.133333F, 0.214286F}));
  EXPECT_THAT(result({"Norm",
                      "<data alpha=\"9\" beta=\"1\" local-size=\"3\" region=\"same\" k=\"1\"/>",
                      {{1, 1, 1, 2}},
                      {},
                      {},
                      5},
                     {floats({1, 1, 1, 2}, {1, 2})}),
              Near(std::vector<float>{1 / 6.0F, 2 / 6.0F}));
  EXPECT_THAT(
      result({"MVN", "<data across_channels=\"0\" normalize_variance=\"1\" eps=\"1e-9\"/>", {shape}, {}, {}, 5}, {x}),
      Near(std::vector<float>{-1, 1, -1, 1}));
  EXPECT_THAT(result({"Softmax", "", {{1, 2}}, {}, {}, 2}, {floats({1, 2}, {1000, 1000})}), ElementsAre(.5F, .5F));
}

TEST(OldIrLayersTest, ComputesElementByElement) {
  const Shape shape = {1, 3};
  const Tensor x = floats(shape, {-1, 0, 2});
  EXPECT_THAT(result({"Power", "<data power=\"2\" scale=\"3\" shift=\"1\"/>", {shape}, {}, {}, 5}, {x}),
              Near(std::vector<float>{4, 1, 49}));
  EXPECT_THAT(
      result({"ReLU", "<data negative_slope=\"0.5\" engine=\"caffe.ReLUParameter.DEFAULT\"/>", {shape}, {}, {}, 5},
             {x}),
      ElementsAre(-.5F, 0, 2));
  EXPECT_THAT(result({"Clamp", "<data min=\"-0.5\" max=\"1\"/>", {shape}, {}, {}, 5}, {x}), ElementsAre(-.5F, 0, 1));
  EXPECT_THAT(result({"Activation", "<data type=\"tanh\"/>", {shape}, {}, {}, 5}, {x}),
              Near(std::vector<float>{std::tanh(-1.0F), 0, std::tanh(2.0F)}));
  EXPECT_THAT(result({"sigmoid", "", {shape}, {}, {}, 7}, {x}), Near(std::vector<float>{.268941F, .5F, .880797F}));
  EXPECT_THAT(result({"ELU", "<data alpha=\"2\"/>", {shape}, {}, {}, 7}, {x}),
              Near(std::vector<float>{2 / std::exp(1.0F) - 2, 0, 2}));
  const std::vector<Tensor> xs = {floats({2}, {1, 2}), floats({2}, {3, 4}), floats({2}, {5, -6})};
  EXPECT_THAT(result({"Eltwise", "<elementwise_data operation=\"sum\" coeff=\"1,-2,0.5\"/>", {{2}}, {}, {}, 2}, xs),
              ElementsAre(-2.5F, -9));
  EXPECT_THAT(result({"Eltwise", "<data coeff=\"\" operation=\"mul\"/>", {{2}}, {}, {}, 5}, xs), ElementsAre(15, -48));
  EXPECT_THAT(result({"Eltwise", "<data operation=\"max\"/>", {{2}}, {}, {}, 5}, xs), ElementsAre(5, 4));
  EXPECT_THAT(result({"Eltwise", "<data operation=\"greater\"/>", {{2}}, {}, {}, 7}, {xs[0], xs[2]}),
              ElementsAre(0, 1));
  EXPECT_THAT(error_of([&] {
                result({"Eltwise", "<data operation=\"mean\"/>", {{2}}, {}, {}, 7}, xs);
              }),
              HasSubstr("Eltwise: the operation 'mean'"));
}

TEST(OldIrLayersTest, MovesElements) {
  const Tensor x = counting({1, 2, 2, 2});
  EXPECT_THAT(result({"Permute", "<data order=\"0,2,3,1\"/>", {{1, 2, 2, 2}}, {}, {}, 5}, {x}),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(result({"Flatten", "<data axis=\"1\" end_axis=\"-1\"/>", {{1, 8}}, {}, {}, 5}, {x}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(result({"Reshape", "<data axis=\"0\" dim=\"0,-1,4\" num_axes=\"-1\"/>", {{1, 2, 4}}, {}, {}, 5}, {x}),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(error_of([&] {
                result({"Reshape", "", {{1, 7}}, {}, {}, 5}, {x});
              }),
              HasSubstr("makes [1,7] of [1,2,2,2]"));
  EXPECT_THAT(result({"Crop", "<data axis=\"2,3\" offset=\"1,0\" dim=\"1,1\"/>", {{1, 2, 1, 1}}, {}, {}, 5}, {x}),
              ElementsAre(2, 6));
  EXPECT_THAT(result({"Crop", "<data axis=\"1\" crop_begin=\"1\" crop_end=\"0\"/>", {{1, 1, 2, 2}}, {}, {}, 5}, {x}),
              ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(result({"Tile", "<data axis=\"1\" tiles=\"2\"/>", {{1, 4}}, {}, {}, 5}, {floats({1, 2}, {1, 2})}),
              ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(result({"Concat", "<concat_data axis=\"1\"/>", {{1, 3}}, {}, {}, 2},
                     {floats({1, 1}, {1}), floats({1, 2}, {2, 3})}),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(result({"Pad",
                      "<data pads_begin=\"0,1\" pads_end=\"0,0\" pad_mode=\"constant\" pad_value=\"9\"/>",
                      {{1, 3}},
                      {},
                      {},
                      7},
                     {floats({1, 2}, {1, 2})}),
              ElementsAre(9, 1, 2));
  EXPECT_THAT(
      result({"Gemm", "<data alpha=\"2\" beta=\"3\" transpose_a=\"0\" transpose_b=\"1\"/>", {{1, 1}}, {}, {}, 7},
             {floats({1, 2}, {1, 2}), floats({1, 2}, {3, 4}), floats({1, 1}, {5})}),
      ElementsAre(37));
  EXPECT_THAT(result({"ArgMax", "<data axis=\"1\" out_max_val=\"0\" top_k=\"1\"/>", {{1, 1}}, {}, {}, 7},
                     {floats({1, 3}, {1, 5, 2})}),
              ElementsAre(1));
}

TEST(OldIrLayersTest, Resamples) {
  const Tensor x = floats({1, 1, 1, 2}, {1, 3});
  EXPECT_THAT(
      result({"Resample", "<data type=\"caffe.ResampleParameter.NEAREST\" factor=\"2\"/>", {{1, 1, 2, 4}}, {}, {}, 5},
             {x}),
      ElementsAre(1, 1, 3, 3, 1, 1, 3, 3));
  EXPECT_THAT(
      result({"Resample", "<data type=\"caffe.ResampleParameter.LINEAR\" antialias=\"0\"/>", {{1, 1, 1, 4}}, {}, {}, 5},
             {x}),
      Near(std::vector<float>{1, 1.5F, 2.5F, 3}));
  EXPECT_THAT(
      result(
          {"Interp", "<data height=\"1\" width=\"3\" align_corners=\"1\" pad_beg=\"0\"/>", {{1, 1, 1, 3}}, {}, {}, 5},
          {x}),
      Near(std::vector<float>{1, 2, 3}));
  EXPECT_THAT(result({"Interp", "<data align_corners=\"0\"/>", {{1, 1, 1, 4}}, {}, {}, 5}, {x}),
              Near(std::vector<float>{1, 2, 3, 3}));
}

// Case: PriorBox and DetectionOutput of SSD, one box that is kept.
TEST(OldIrLayersTest, FindsBoxes) {
  const std::vector<float> boxes = result({"PriorBox",
                                           "<data min_size=\"4.0\" aspect_ratio=\"\" flip=\"1\" clip=\"0\" "
                                           "variance=\"0.1,0.1,0.2,0.2\" step=\"0\" offset=\"0.5\"/>",
                                           {{1, 2, 4}},
                                           {},
                                           {},
                                           5},
                                          {counting({1, 1, 1, 1}), counting({1, 3, 8, 8})});
  EXPECT_THAT(boxes, Near(std::vector<float>{.25F, .25F, .75F, .75F, .1F, .1F, .2F, .2F}));
  const std::vector<float> rows =
      result({"DetectionOutput",
              "<data num_classes=\"2\" share_location=\"1\" background_label_id=\"0\" nms_threshold=\"0.5\" "
              "code_type=\"caffe.PriorBoxParameter.CENTER_SIZE\" keep_top_k=\"2\" top_k=\"10\" "
              "variance_encoded_in_target=\"0\" confidence_threshold=\"0.3\" visualize=\"0\"/>",
              {{1, 1, 2, 7}},
              {},
              {},
              5},
             {floats({1, 4}, {0, 0, 0, 0}), floats({1, 2}, {.1F, .9F}),
              floats({1, 2, 4}, {.25F, .25F, .75F, .75F, .1F, .1F, .2F, .2F})});
  EXPECT_THAT(rows, Near(std::vector<float>{0, 1, .9F, .25F, .25F, .75F, .75F, -1, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace headrace::test
