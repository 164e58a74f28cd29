// SPDX-License-Identifier: Apache-2.0
// Hand values and refusals of detection operators and of those whose result's size depends on values; golden cases
// cover the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/box_overlap.hpp"
#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

TEST(BoxOverlapTest, IsZeroForEmptyAndNaN) {
  EXPECT_DOUBLE_EQ(box_overlap({0, 0, 2, 2}, {1, 0, 3, 2}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(box_overlap({0, 0, 1, 1}, {1, 0, 2, 1}, 1), 1.0 / 3);
  EXPECT_EQ(box_overlap({0, 0, 0, 0}, {0, 0, 0, 0}), 0);
  EXPECT_EQ(box_overlap({2, 2, 0, 0}, {2, 2, 0, 0}), 0);
  EXPECT_EQ(box_overlap({NAN, 0, 1, 1}, {0, 0, 1, 1}), 0);
}

std::vector<Tensor> three_boxes(float threshold) {
  // Corners in any order; the second box covers half of the first.
  return {floats({1, 3, 4}, {0, 0, 2, 2, 2, 1, 0, 3, 5, 5, 6, 6}), floats({1, 1, 3}, {0.5F, 0.9F, 0.2F}), ints({9}),
          floats({}, {threshold}), floats({1}, {0.1F})};
}

TEST(NonMaxSuppressionTest, DropsWhatOverlapsTooFar) {
  std::vector<Tensor> outputs = run_op("NonMaxSuppression", {}, three_boxes(0.3F), 9);
  EXPECT_THAT(to_int64s(outputs[0]), ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(0, 0, 0.9F, 0, 0, 0.2F));
  EXPECT_THAT(to_int64s(outputs[2]), ElementsAre(2));
  outputs = run_op("NonMaxSuppression", {}, three_boxes(0.34F), 4);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_THAT(to_int64s(outputs[0]), ElementsAre(0, 0, 1, 0, 0, 0, 0, 0, 2));
}

TEST(NonMaxSuppressionTest, LowersScoresSoftly) {
  std::vector<Tensor> inputs = three_boxes(1);
  inputs.push_back(floats({}, {0.5F}));
  const std::vector<Tensor> outputs = run_op("NonMaxSuppression", {}, inputs, 9);
  // 0.5 * exp(-(1/3)^2) = 0.4474
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(0, 0, 0.9F, 0, 0, FloatNear(0.447421F, 1e-5F), 0, 0, 0.2F));
}

TEST(NonMaxSuppressionTest, SelectsNothingWithoutALimit) {
  std::vector<Tensor> inputs = three_boxes(0.3F);
  inputs.resize(2);
  EXPECT_EQ(run_op("NonMaxSuppression", {}, inputs, 9)[0].shape(), (Shape{0, 3}));
  EXPECT_THAT(error_of("NonMaxSuppression", {}, {inputs[0], floats({1, 1, 2}, {1, 1})}, 9), HasSubstr("boxes"));
}

TEST(NonZeroTest, ListsIndicesByDimension) {
  const Tensor places = run_op("NonZero", {}, {floats({2, 2}, {0, 3, NAN, 0})}, 3)[0];
  EXPECT_EQ(places.shape(), (Shape{2, 2}));
  EXPECT_THAT(places.values<std::int64_t>(), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(run_op("NonZero", {{"output_type", "i32"}}, {floats({3}, {0, -0.0F, 0})}, 3)[0].shape(), (Shape{1, 0}));
  EXPECT_EQ(run_op("NonZero", {}, {floats({}, {1})}, 3)[0].shape(), (Shape{0, 1}));
}

TEST(UniqueTest, SortsOrKeepsTheOrder) {
  const Tensor data = ints({5, 2, 5, -1, 2, 2});
  std::vector<Tensor> outputs = run_op("Unique", {}, {data}, 10);
  EXPECT_THAT(to_int64s(outputs[0]), ElementsAre(-1, 2, 5));
  EXPECT_THAT(to_int64s(outputs[1]), ElementsAre(3, 1, 0));
  EXPECT_THAT(to_int64s(outputs[2]), ElementsAre(2, 1, 2, 0, 1, 1));
  EXPECT_THAT(to_int64s(outputs[3]), ElementsAre(1, 3, 2));
  outputs = run_op("Unique", {{"sorted", "false"}}, {data}, 10);
  EXPECT_THAT(to_int64s(outputs[0]), ElementsAre(5, 2, -1));
  EXPECT_THAT(to_int64s(outputs[1]), ElementsAre(0, 1, 3));
  EXPECT_THAT(to_int64s(outputs[2]), ElementsAre(0, 1, 0, 2, 1, 1));
}

TEST(UniqueTest, ComparesSlicesAlongAnAxis) {
  const Tensor data = floats({2, 3}, {2, 1, 2, 0, 7, 0});
  const std::vector<Tensor> outputs = run_op("Unique", {}, {data, int_scalar(-1)}, 10);
  EXPECT_EQ(outputs[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(1, 2, 7, 0));
  EXPECT_THAT(to_int64s(outputs[2]), ElementsAre(1, 0, 1));
}

TEST(RoiTest, RefusesWhatDoesNotFit) {
  const RawAttributes pooling = {{"pooled_h", "2"}, {"pooled_w", "2"}, {"spatial_scale", "1"}};
  const Tensor data = counting({1, 2, 4, 4});
  EXPECT_THAT(error_of("ROIPooling", pooling, {data, floats({1, 5}, {1, 0, 0, 3, 3})}, 2), HasSubstr("batch 1"));
  EXPECT_THAT(error_of("ROIPooling", pooling, {data, floats({1, 4}, {0, 0, 3, 3})}, 2), HasSubstr("[1,5]"));
  // A region of batch -1 ends the list; NaN and endless regions read nothing outside.
  const Tensor ended = floats({2, 5}, {-1, 0, 0, 3, 3, 0, 0, 0, 3, 3});
  for (const float value : run_op("ROIPooling", pooling, {data, ended}, 2)[0].values<float>()) EXPECT_EQ(value, 0);
  run_op("ROIPooling", pooling, {data, floats({2, 5}, {0, NAN, NAN, NAN, NAN, 0, -1e30F, -1e30F, 1e30F, 1e30F})}, 2);
  EXPECT_THAT(error_of("PSROIPooling", {{"output_dim", "3"}, {"group_size", "2"}, {"spatial_scale", "1"}},
                       {data, floats({1, 5}, {0, 0, 0, 3, 3})}),
              HasSubstr("needs 12 channels"));
  const RawAttributes align = {{"pooled_h", "1"}, {"pooled_w", "1"}, {"spatial_scale", "1"}, {"sampling_ratio", "0"}};
  EXPECT_THAT(error_of("ROIAlign", align, {data, floats({1, 4}, {0, 0, 3, 3}), ints({5})}, 9), HasSubstr("index 5"));
  run_op("ROIAlign", align, {data, floats({1, 4}, {-1e30F, 0, 1e30F, NAN}), ints({0})}, 9);
}

TEST(PriorBoxTest, NeedsTheMapsSizeAndSaneAttributes) {
  const std::vector<Tensor> sizes = {ints({1, 1}), ints({10, 10})};
  const Tensor boxes = run_op("PriorBox", {{"min_size", "4"}, {"offset", "0.5"}}, sizes)[0];
  EXPECT_THAT(boxes.values<float>(), ElementsAre(0.3F, 0.3F, 0.7F, 0.7F, 0.1F, 0.1F, 0.1F, 0.1F));
  EXPECT_THAT(error_of("PriorBox", {{"min_size", "-4"}, {"offset", "0.5"}}, sizes), HasSubstr("min_size"));
  EXPECT_THAT(error_of("PriorBox", {{"density", "1e9"}, {"offset", "0.5"}}, sizes), HasSubstr("density"));
  EXPECT_THAT(error_of("PriorBox", {{"variance", "1,2"}, {"offset", "0"}}, sizes), HasSubstr("2 variances"));
  EXPECT_THAT(error_of("PriorBoxClustered", {{"width", "1,2"}, {"height", "1"}, {"offset", "0"}}, sizes),
              HasSubstr("2 widths and 1 heights"));
}

TEST(YoloTest, RefusesChannelsThatDoNotFit) {
  EXPECT_THAT(error_of("ReorgYolo", {{"stride", "2"}}, {counting({1, 5, 2, 2})}, 2), HasSubstr("stride 2"));
  const RawAttributes region = {{"axis", "1"}, {"end_axis", "3"}, {"coords", "4"}, {"classes", "2"}, {"num", "2"}};
  EXPECT_THAT(error_of("RegionYolo", region, {counting({1, 13, 1, 1})}), HasSubstr("2 regions"));
}

TEST(EmbeddingTest, ReadsOnlyRowsThatExist) {
  const Tensor table = counting({2, 2});
  EXPECT_THAT(
      run_op("EmbeddingBagOffsetsSum", {}, {table, ints({0, 1}), ints({0, 2}), int_scalar(1)}, 3)[0].values<float>(),
      ElementsAre(2, 4, 2, 3));
  EXPECT_THAT(error_of("EmbeddingBagOffsetsSum", {}, {table, ints({0, 2}), ints({0})}, 3), HasSubstr("index 2"));
  EXPECT_THAT(error_of("EmbeddingBagOffsetsSum", {}, {table, ints({0, 1}), ints({0, 3})}, 3), HasSubstr("offsets"));
  EXPECT_THAT(error_of("EmbeddingSegmentsSum", {}, {table, ints({0}), ints({0}), int_scalar(-1)}, 3),
              HasSubstr("-1 segments"));
}

TEST(CtcTest, LeavesBlanksAndRepetitionsOut) {
  const Tensor data = floats({1, 4, 2}, {1, 0, 1, 0, 0, 1, 1, 0});  // classes 0 0 blank 0
  std::vector<Tensor> outputs = run_op("CTCGreedyDecoderSeqLen", {}, {data, ints({4})}, 6);
  EXPECT_THAT(to_int64s(outputs[0]), ElementsAre(0, 0, -1, -1));
  EXPECT_THAT(to_int64s(outputs[1]), ElementsAre(2));
  EXPECT_THAT(error_of("CTCGreedyDecoderSeqLen", {}, {data, ints({5})}, 6), HasSubstr("sequence length of 5"));
}

TEST(DftTest, FillsUpAndCutsOff) {
  const Tensor signal = floats({2}, {1, 1});
  EXPECT_THAT(run_op("RDFT", {}, {signal, ints({0}), ints({4})}, 9)[0].values<float>(),
              ElementsAre(2, 0, FloatNear(1, 1e-6F), FloatNear(-1, 1e-6F), FloatNear(0, 1e-6F), FloatNear(0, 1e-6F)));
  EXPECT_THAT(error_of("DFT", {}, {signal, ints({0})}, 7), HasSubstr("pairs"));
  EXPECT_THAT(error_of("RDFT", {}, {signal, ints({0}), ints({0})}, 9), HasSubstr("signal size 0"));
}

TEST(DetectionOutputTest, MarksTheEndOfItsRows) {
  const RawAttributes raw = {{"keep_top_k", "3"},
                             {"nms_threshold", "0.5"},
                             {"normalized", "true"},
                             {"variance_encoded_in_target", "true"},
                             {"confidence_threshold", "0.1"}};
  const std::vector<Tensor> inputs = {floats({1, 4}, {0, 0, 0, 0}), floats({1, 2}, {0.1F, 0.9F}),
                                      floats({1, 1, 4}, {0, 0.25F, 0.5F, 1})};
  EXPECT_THAT(run_op("DetectionOutput", raw, inputs, 8)[0].values<float>(),
              ElementsAre(0, 1, 0.9F, 0, 0.25F, 0.5F, 1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(error_of("DetectionOutput", raw, {inputs[0], floats({1, 3}, {0, 0, 0}), counting({1, 2, 4})}, 8),
              HasSubstr("proposals of shape [1,2,4]"));
}

}  // namespace
}  // namespace headrace::test
