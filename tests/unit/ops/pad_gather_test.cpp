// SPDX-License-Identifier: Apache-2.0
// Hand values for Pad, Gather, ShapeOf and Range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/move.hpp"
#include "ops/view.hpp"
#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor pad(const char* mode, const Tensor& data, const Tensor& begin, const Tensor& end) {
  return run_op("Pad", {{"pad_mode", mode}}, {data, begin, end}, 12)[0];
}

TEST(PadTest, ExtendsInEveryMode) {
  const Tensor data = counting({3}, 1);
  EXPECT_THAT(pad("constant", data, ints({2}), ints({1})).values<float>(), ElementsAre(0, 0, 1, 2, 3, 0));
  EXPECT_THAT(pad("edge", data, ints({2}), ints({1})).values<float>(), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(pad("reflect", data, ints({2}), ints({2})).values<float>(), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(pad("symmetric", data, ints({2}), ints({3})).values<float>(), ElementsAre(2, 1, 1, 2, 3, 3, 2, 1));
  const Tensor square = pad("constant", counting({1, 2}, 1), ints({1, 0}), ints({0, 1}));
  EXPECT_THAT(square.values<float>(), ElementsAre(0, 0, 0, 1, 2, 0));
  const std::vector<Tensor> valued = {data, ints({1}), ints({0}), floats({}, {9})};
  EXPECT_THAT(run_op("Pad", {}, valued)[0].values<float>(), ElementsAre(9, 1, 2, 3));
}

TEST(PadTest, CropsWithNegativePads) {
  const Tensor data = counting({4}, 1);
  EXPECT_THAT(pad("constant", data, ints({-1}), ints({-2})).values<float>(), ElementsAre(2));
  EXPECT_THAT(pad("constant", data, ints({-2}), ints({1})).values<float>(), ElementsAre(3, 4, 0));
  EXPECT_THAT(pad("reflect", data, ints({-1}), ints({2})).values<float>(), ElementsAre(2, 3, 4, 3, 2));
  EXPECT_THAT(pad("constant", data, ints({-6}), ints({4})).values<float>(), ElementsAre(0, 0));
}

TEST(PadTest, RefusesWhatItCannotMirror) {
  EXPECT_THAT(error_of("Pad", {{"pad_mode", "reflect"}}, {counting({3}), ints({3}), ints({0})}),
              HasSubstr("cannot pad axis 0 of [3] by 3 (reflect)"));
  EXPECT_THAT(error_of("Pad", {{"pad_mode", "symmetric"}}, {counting({3}), ints({4}), ints({0})}), HasSubstr("by 4"));
  EXPECT_THAT(error_of("Pad", {{"pad_mode", "edge"}}, {counting({0}), ints({1}), ints({0})}), HasSubstr("by 1"));
  EXPECT_THAT(error_of("Pad", {}, {counting({3}), ints({-4}), ints({0})}), HasSubstr("crops more"));
  EXPECT_THAT(error_of("Pad", {}, {counting({3}), ints({0, 0}), ints({0})}), HasSubstr("rank 1"));
}

TEST(PadTest, IsAViewWhereItOnlyCrops) {
  const Tensor begin = ints({0, -1});
  const Tensor end = ints({0, -1});
  const std::vector<LowerInput> inputs = {{dense_desc(ElementType::f32, {2, 4}), nullptr},
                                          {dense_desc(ElementType::i64, {2}), &begin},
                                          {dense_desc(ElementType::i64, {2}), &end}};
  EXPECT_EQ(view_of(make_node("Pad", {}, 3, 12), inputs, 0, {2, 2}), (View{{4, 1}, 1}));
}

TEST(GatherTest, PicksAlongTheAxis) {
  const Tensor data = counting({2, 3});
  EXPECT_THAT(run_op("Gather", {}, {data, ints({2, 0, -1}), int_scalar(1)}, 8)[0].values<float>(),
              ElementsAre(2, 0, 2, 5, 3, 5));
  const Tensor row = run_op("Gather", {}, {data, int_scalar(1), int_scalar(0)}, 1)[0];
  EXPECT_EQ(row.shape(), (Shape{3}));
  EXPECT_THAT(row.values<float>(), ElementsAre(3, 4, 5));
}

TEST(GatherTest, WalksBatchesTogether) {
  const std::vector<std::int64_t> picks = {0, 2, 1, 1};
  const Tensor indices = make_i64_tensor({2, 2}, picks);
  const Tensor result = run_op("Gather", {{"batch_dims", "1"}}, {counting({2, 3}), indices, int_scalar(1)}, 8)[0];
  EXPECT_EQ(result.shape(), (Shape{2, 2}));
  EXPECT_THAT(result.values<float>(), ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(error_of("Gather", {{"batch_dims", "2"}}, {counting({2, 3}), indices, int_scalar(1)}, 8),
              HasSubstr("batch_dims 2"));
}

TEST(GatherTest, RefusesIndicesOutsideTheAxis) {
  const Tensor data = counting({12});
  EXPECT_THAT(run_op("Gather", {}, {data, ints({-1, 11}), int_scalar(0)}, 8)[0].values<float>(), ElementsAre(11, 11));
  EXPECT_THAT(error_of("Gather", {}, {data, ints({0, 12}), int_scalar(0)}, 8),
              HasSubstr("index 12 at place 1 for an axis of size 12"));
  EXPECT_THAT(error_of("Gather", {}, {data, ints({-13}), int_scalar(0)}, 8), HasSubstr("index -13"));
  // Where the indices come with the run, the reference finds out.
  const Node node = make_node("Gather", {}, 3, 8);
  const std::vector<Tensor> inputs = {data, ints({12}), int_scalar(0)};
  std::vector<Tensor> outputs = {Tensor(ElementType::f32, {1})};
  EXPECT_THROW(find_op("Gather")->reference(node, inputs, outputs), Error);
}

TEST(GatherTest, IsAViewForOneKnownIndex) {
  const Tensor index = int_scalar(-1);
  const Tensor axis = int_scalar(1);
  const std::vector<LowerInput> inputs = {{dense_desc(ElementType::f32, {2, 3, 4}), nullptr},
                                          {dense_desc(ElementType::i64, {}), &index},
                                          {dense_desc(ElementType::i64, {}), &axis}};
  EXPECT_EQ(view_of(make_node("Gather", {}, 3, 8), inputs, 0, {2, 4}), (View{{12, 1}, 8}));
}

TEST(ShapeOfTest, GivesTheShape) {
  EXPECT_THAT(run_op("ShapeOf", {}, {counting({2, 0, 3})})[0].values<std::int64_t>(), ElementsAre(2, 0, 3));
  EXPECT_THAT(run_op("ShapeOf", {{"output_type", "i32"}}, {counting({2, 3})}, 3)[0].values<std::int32_t>(),
              ElementsAre(2, 3));
  EXPECT_EQ(run_op("ShapeOf", {}, {floats({}, {1})})[0].shape(), (Shape{0}));
}

TEST(RangeTest, CountsUpAndDown) {
  const auto range = [](const char* type, const Tensor& start, const Tensor& stop, const Tensor& step) {
    return run_op("Range", {{"output_type", type}}, {start, stop, step}, 4)[0];
  };
  EXPECT_THAT(range("i64", int_scalar(2), int_scalar(9), int_scalar(3)).values<std::int64_t>(), ElementsAre(2, 5, 8));
  EXPECT_THAT(range("i32", int_scalar(3), int_scalar(0), int_scalar(-2)).values<std::int32_t>(), ElementsAre(3, 1));
  EXPECT_THAT(range("f32", floats({}, {0}), floats({}, {1}), floats({}, {0.25})).values<float>(),
              ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_EQ(range("i64", int_scalar(5), int_scalar(5), int_scalar(1)).shape(), (Shape{0}));
  EXPECT_EQ(run_op("Range", {}, {int_scalar(0), int_scalar(2), int_scalar(1)}, 1)[0].type(), ElementType::i64);
  EXPECT_THAT(error_of("Range", {}, {int_scalar(0), int_scalar(2), int_scalar(0)}, 1), HasSubstr("no sensible length"));
}

}  // namespace
}  // namespace headrace::test
