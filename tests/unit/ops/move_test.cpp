// SPDX-License-Identifier: Apache-2.0
// Hand values for the operators that only move elements, and for the views that save the copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ops/move.hpp"
#include "ops/view.hpp"
#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void expect_tensor(const Tensor& tensor, const Shape& shape, const std::vector<float>& values) {
  EXPECT_EQ(tensor.shape(), shape);
  EXPECT_THAT(tensor.values<float>(), ElementsAreArray(values));
}

TEST(TransposeTest, PermutesAndReverses) {
  expect_tensor(run_op("Transpose", {}, {counting({2, 3}), ints({1, 0})})[0], {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_tensor(run_op("Transpose", {}, {counting({1, 2, 3}), ints({})})[0], {3, 2, 1}, {0, 3, 1, 4, 2, 5});
  EXPECT_THAT(error_of("Transpose", {}, {counting({2, 3}), ints({1, 1})}), HasSubstr("has axis 1 twice"));
  EXPECT_THAT(error_of("Transpose", {}, {counting({2, 3}), ints({0})}), HasSubstr("rank 2"));
}

TEST(ReshapeTest, ResolvesZeroAndMinusOne) {
  const RawAttributes special = {{"special_zero", "true"}};
  EXPECT_EQ(run_op("Reshape", special, {counting({2, 3, 4}), ints({0, -1})})[0].shape(), (Shape{2, 12}));
  EXPECT_EQ(run_op("Reshape", {}, {counting({0, 3}), ints({-1, 3})})[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(run_op("Reshape", {}, {counting({0, 3}), ints({3, 0})})[0].shape(), (Shape{3, 0}));
  EXPECT_EQ(run_op("Reshape", {}, {counting({1}), ints({})})[0].shape(), Shape{});
}

TEST(ReshapeTest, RefusesWhatCannotBeInferred) {
  EXPECT_THAT(error_of("Reshape", {{"special_zero", "true"}}, {counting({1, 0}), ints({-1, 0})}),
              HasSubstr("cannot infer"));
  EXPECT_THAT(error_of("Reshape", {}, {counting({2, 3}), ints({-1, -1})}), HasSubstr("-1 stands twice"));
  EXPECT_THAT(error_of("Reshape", {}, {counting({2, 3}), ints({4, -1})}), HasSubstr("no single value"));
  EXPECT_THAT(error_of("Reshape", {}, {counting({2, 3}), ints({5})}), HasSubstr("numbers of elements differ"));
  EXPECT_THAT(error_of("Reshape", {}, {counting({2, 3}), ints({kMax, 3})}), HasSubstr("overflows"));
  EXPECT_THAT(error_of("Reshape", {{"special_zero", "1"}}, {counting({2}), ints({0, 0})}), HasSubstr("input's rank"));
}

TEST(ReshapeTest, NeedsAKnownPattern) {
  const Node node = make_node("Reshape", {}, 2);
  const std::vector<InferInput> inputs = {{ElementType::f32, {2, 3}, nullptr}, {ElementType::i64, {1}, nullptr}};
  try {
    find_op("Reshape")->infer(node, inputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_STREQ(error.what(), "output shape depends on the value of input 1, which is not known before the run");
  }
}

TEST(SqueezeTest, DropsOnes) {
  EXPECT_EQ(run_op("Squeeze", {}, {counting({1, 3, 1}), ints({0})})[0].shape(), (Shape{3, 1}));
  EXPECT_EQ(run_op("Squeeze", {}, {counting({1, 3, 1}), ints({-1})})[0].shape(), (Shape{1, 3}));
  EXPECT_EQ(run_op("Squeeze", {}, {counting({1, 3, 1})})[0].shape(), (Shape{3}));
  EXPECT_EQ(run_op("Squeeze", {}, {counting({1, 1})})[0].shape(), Shape{});
  EXPECT_THAT(error_of("Squeeze", {}, {counting({1, 3}), ints({1})}), HasSubstr("size is not 1"));
  EXPECT_EQ(run_op("Squeeze", {{"allow_axis_skip", "true"}}, {counting({1, 3}), ints({0, 1})}, 15)[0].shape(),
            (Shape{3}));
}

TEST(UnsqueezeTest, AddsOnes) {
  EXPECT_EQ(run_op("Unsqueeze", {}, {counting({2, 3}), ints({0, 3})})[0].shape(), (Shape{1, 2, 3, 1}));
  EXPECT_EQ(run_op("Unsqueeze", {}, {counting({2, 3}), ints({-1})})[0].shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(run_op("Unsqueeze", {}, {counting({}), int_scalar(0)})[0].shape(), (Shape{1}));
  EXPECT_THAT(error_of("Unsqueeze", {}, {counting({2}), ints({5})}), HasSubstr("outside a tensor of rank 2"));
}

TEST(ConcatTest, JoinsScalarsMadeVectors) {
  const Tensor a = run_op("Unsqueeze", {}, {floats({}, {3}), ints({0})})[0];
  const Tensor b = run_op("Unsqueeze", {}, {floats({}, {4}), ints({0})})[0];
  expect_tensor(run_op("Concat", {{"axis", "0"}}, {a, b})[0], {2}, {3, 4});
}

TEST(ConcatTest, JoinsAlongAnyAxis) {
  const Tensor a = counting({1, 2, 2});
  const Tensor b = counting({1, 1, 2}, 10);
  expect_tensor(run_op("Concat", {{"axis", "1"}}, {a, b})[0], {1, 3, 2}, {0, 1, 2, 3, 10, 11});
  expect_tensor(run_op("Concat", {{"axis", "-1"}}, {a, counting({1, 2, 1}, 10)})[0], {1, 2, 3}, {0, 1, 10, 2, 3, 11});
  expect_tensor(run_op("Concat", {{"axis", "1"}}, {a, counting({1, 0, 2})})[0], {1, 2, 2}, {0, 1, 2, 3});
  EXPECT_THAT(error_of("Concat", {{"axis", "1"}}, {a, counting({1, 2, 3})}), HasSubstr("cannot join [1,2,2] f32"));
  EXPECT_THAT(error_of("Concat", {{"axis", "3"}}, {a, a}), HasSubstr("axis 3"));
  EXPECT_THAT(error_of("Concat", {}, {a, a}), HasSubstr("'axis' is missing"));
}

TEST(SplitTest, CutsEvenlyOrByLengths) {
  const std::vector<Tensor> halves = run_op("Split", {{"num_splits", "2"}}, {counting({2, 4}), int_scalar(1)});
  expect_tensor(halves[0], {2, 2}, {0, 1, 4, 5});
  expect_tensor(halves[1], {2, 2}, {2, 3, 6, 7});
  EXPECT_THAT(error_of("Split", {{"num_splits", "3"}}, {counting({10}), int_scalar(0)}), HasSubstr("3 equal parts"));
  const std::vector<Tensor> parts = run_op("VariadicSplit", {}, {counting({10}), int_scalar(-1), ints({4, -1, 2})});
  expect_tensor(parts[1], {4}, {4, 5, 6, 7});
  expect_tensor(parts[2], {2}, {8, 9});
  EXPECT_THAT(error_of("VariadicSplit", {}, {counting({10}), int_scalar(0), ints({4, 4})}), HasSubstr("[4,4]"));
  EXPECT_THAT(error_of("VariadicSplit", {}, {counting({10}), int_scalar(0), ints({-1, -1})}), HasSubstr("at most one"));
  EXPECT_THAT(error_of("VariadicSplit", {}, {counting({10}), int_scalar(0), ints({11, -1})}), HasSubstr("size 10"));
}

Tensor slice(const Tensor& data, std::int64_t start, std::int64_t stop, std::int64_t step) {
  return run_op("Slice", {}, {data, ints({start}), ints({stop}), ints({step})}, 8)[0];
}

TEST(SliceTest, FollowsPython) {
  const Tensor data = counting({10});
  expect_tensor(slice(data, 1, 4, 1), {3}, {1, 2, 3});
  expect_tensor(slice(data, -3, kMax, 1), {3}, {7, 8, 9});
  expect_tensor(slice(data, 8, 1, -3), {3}, {8, 5, 2});
  expect_tensor(slice(data, -1, kMin, -1), {10}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  expect_tensor(slice(data, kMin, kMax, kMax), {1}, {0});
  expect_tensor(slice(data, kMax, kMin, kMin), {1}, {9});
  // ONNX Runtime reverses here; IR's meaning (numpy, OpenVINO) is empty: the end is clamped to the last element.
  expect_tensor(slice(data, -1, kMax, -1), {0}, {});
  expect_tensor(slice(data, 4, 2, 1), {0}, {});
  EXPECT_THAT(error_of("Slice", {}, {data, ints({0}), ints({1}), ints({0})}, 8), HasSubstr("step of 0"));
}

TEST(SliceTest, TakesAxesInAnyOrder) {
  const std::vector<Tensor> inputs = {counting({2, 3}), ints({1, 0}), ints({3, 1}), ints({1, 1}), ints({-1, 0})};
  expect_tensor(run_op("Slice", {}, inputs, 8)[0], {1, 2}, {1, 2});
}

RawAttributes masks(const char* begin, const char* end, const char* added, const char* shrink, const char* ellipsis) {
  return {{"begin_mask", begin},
          {"end_mask", end},
          {"new_axis_mask", added},
          {"shrink_axis_mask", shrink},
          {"ellipsis_mask", ellipsis}};
}

TEST(StridedSliceTest, AppliesEveryMask) {
  const Tensor data = counting({2, 3, 4});
  const auto run = [&](const RawAttributes& raw, const Tensor& begin, const Tensor& end, const Tensor& strides) {
    return run_op("StridedSlice", raw, {data, begin, end, strides})[0];
  };
  expect_tensor(run(masks("", "", "", "", ""), ints({1, 1}), ints({2, 3}), ints({1, 1})), {1, 2, 4},
                {16, 17, 18, 19, 20, 21, 22, 23});
  // data[0, ..., ::-2]
  expect_tensor(run(masks("0,0,1", "0,0,1", "", "1,0,0", "0,1,0"), ints({0, 0, 0}), ints({0, 0, 0}), ints({1, 1, -2})),
                {3, 2}, {3, 1, 7, 5, 11, 9});
  // data[:, None, -1, 1:3]
  expect_tensor(run(masks("1", "1", "0,1", "0,0,1", ""), ints({0, 0, -1, 1}), ints({0, 0, 0, 3}), ints({1, 1, 1, 1})),
                {2, 1, 2}, {9, 10, 21, 22});
  // an ellipsis that stands for nothing
  EXPECT_EQ(run(masks("1,0,1,1", "1,0,1,1", "", "", "0,1"), ints({0, 0, 0, 0}), ints({0, 0, 0, 0}), ints({1, 1, 1, 1}))
                .shape(),
            (Shape{2, 3, 4}));
  EXPECT_THAT(error_of("StridedSlice", masks("", "", "", "1", ""), {data, ints({2}), ints({3}), ints({1})}),
              HasSubstr("index 2 of an axis of size 2"));
  EXPECT_THAT(error_of("StridedSlice", masks("", "", "", "", "1,1"), {data, ints({0, 0}), ints({0, 0})}),
              HasSubstr("more than one ellipsis"));
  EXPECT_THAT(error_of("StridedSlice", {}, {data, ints({0, 0, 0, 0}), ints({1, 1, 1, 1})}), HasSubstr("more dim"));
}

TEST(BroadcastTest, KnowsThreeModes) {
  const Tensor column = floats({2, 1}, {1, 2});
  expect_tensor(run_op("Broadcast", {}, {column, ints({2, 3})})[0], {2, 3}, {1, 1, 1, 2, 2, 2});
  expect_tensor(run_op("Broadcast", {{"mode", "explicit"}}, {counting({2}), ints({2, 2}), ints({0})})[0], {2, 2},
                {0, 0, 1, 1});
  expect_tensor(run_op("Broadcast", {{"mode", "bidirectional"}}, {column, ints({1, 1, 1})}, 3)[0], {1, 2, 1}, {1, 2});
  EXPECT_THAT(error_of("Broadcast", {}, {column, ints({3, 3})}), HasSubstr("cannot repeat [2,1] to [3,3]"));
  EXPECT_THAT(error_of("Broadcast", {{"mode", "explicit"}}, {column, ints({2, 1}), ints({1, 0})}),
              HasSubstr("not ascending"));
}

TEST(TileTest, RepeatsAlongEachAxis) {
  expect_tensor(run_op("Tile", {}, {counting({1, 2}), ints({2, 2})})[0], {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_tensor(run_op("Tile", {}, {counting({2}), ints({2, 1})})[0], {2, 2}, {0, 1, 0, 1});
  expect_tensor(run_op("Tile", {}, {counting({1, 2}), ints({2})})[0], {1, 4}, {0, 1, 0, 1});
  EXPECT_EQ(run_op("Tile", {}, {counting({2}), ints({0})})[0].shape(), (Shape{0}));
}

TEST(DepthToSpaceTest, MovesBlocksBothWays) {
  const RawAttributes blocks = {{"mode", "blocks_first"}, {"block_size", "2"}};
  const RawAttributes depth = {{"mode", "depth_first"}, {"block_size", "2"}};
  const Tensor deep = counting({1, 8, 1, 1});
  const Tensor wide_blocks = run_op("DepthToSpace", blocks, {deep})[0];
  const Tensor wide_depth = run_op("DepthToSpace", depth, {deep})[0];
  expect_tensor(wide_blocks, {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  expect_tensor(wide_depth, {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_tensor(run_op("SpaceToDepth", blocks, {wide_blocks})[0], {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_tensor(run_op("SpaceToDepth", depth, {wide_depth})[0], {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(error_of("DepthToSpace", blocks, {counting({1, 6, 1, 1})}), HasSubstr("do not divide"));
}

TEST(ShuffleChannelsTest, TransposesGroups) {
  expect_tensor(run_op("ShuffleChannels", {{"group", "2"}}, {counting({1, 6, 1, 1})})[0], {1, 6, 1, 1},
                {0, 3, 1, 4, 2, 5});
  expect_tensor(run_op("ShuffleChannels", {{"group", "3"}, {"axis", "-1"}}, {counting({1, 6})})[0], {1, 6},
                {0, 2, 4, 1, 3, 5});
  EXPECT_THAT(error_of("ShuffleChannels", {{"group", "4"}}, {counting({1, 6, 1, 1})}), HasSubstr("does not divide"));
}

TEST(ReshapeStridesTest, FollowsNumpy) {
  const TensorDesc dense = dense_desc(ElementType::f32, {2, 3, 4});
  EXPECT_EQ(reshape_strides(dense, {6, 4}), (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(reshape_strides(dense, {2, 1, 12}), (std::vector<std::int64_t>{12, 12, 1}));
  const TensorDesc turned{ElementType::f32, {4, 2, 3}, {1, 12, 4}, 0};
  EXPECT_EQ(reshape_strides(turned, {4, 6}), (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(reshape_strides(turned, {2, 2, 6}), (std::vector<std::int64_t>{2, 1, 4}));
  EXPECT_EQ(reshape_strides(turned, {8, 3}), std::nullopt);
  EXPECT_EQ(reshape_strides(turned, {24}), std::nullopt);
  // A global pool's channels-last result is dense under any shape.
  const TensorDesc pooled{ElementType::f32, {1, 5, 1, 1}, {5, 1, 5, 5}, 0};
  EXPECT_EQ(reshape_strides(pooled, {1, 5}), (std::vector<std::int64_t>{5, 1}));
}

std::optional<View> view_of_op(const std::string& type, const RawAttributes& raw, const TensorDesc& data,
                               const std::vector<Tensor>& constants, const Shape& shape, std::size_t output = 0) {
  std::vector<LowerInput> inputs = {{data, nullptr}};
  for (const Tensor& constant : constants) {
    inputs.push_back({dense_desc(constant.type(), constant.shape()), &constant});
  }
  return view_of(make_node(type, raw, inputs.size(), 8), inputs, output, shape);
}

TEST(ViewTest, FindsSlicesInsideTheirInput) {
  const TensorDesc data{ElementType::f32, {1, 4, 2, 2}, {16, 1, 8, 4}, 100};  // channels-last, somewhere in a buffer
  EXPECT_EQ(view_of_op("Split", {{"num_splits", "2"}}, data, {int_scalar(1)}, {1, 2, 2, 2}, 1),
            (View{{16, 1, 8, 4}, 102}));
  EXPECT_EQ(view_of_op("Slice", {}, data, {ints({1}), ints({2}), ints({1}), ints({2})}, {1, 4, 1, 2}),
            (View{{16, 1, 8, 4}, 108}));
  EXPECT_EQ(view_of_op("Transpose", {}, data, {ints({0, 2, 3, 1})}, {1, 2, 2, 4}), (View{{16, 8, 4, 1}, 100}));
  EXPECT_EQ(view_of_op("Reshape", {}, data, {ints({4, 4})}, {4, 4}), (View{{1, 4}, 100}));
  EXPECT_EQ(view_of_op("Reshape", {}, data, {ints({16})}, {16}), std::nullopt);
  EXPECT_EQ(view_of_op("Squeeze", {}, data, {ints({0})}, {4, 2, 2}), (View{{1, 8, 4}, 100}));
}

TEST(ViewTest, DeclinesWhatRepeatsOrRunsBackwards) {
  const TensorDesc data = dense_desc(ElementType::f32, {4, 1});
  EXPECT_EQ(view_of_op("Slice", {}, data, {ints({3}), ints({kMin}), ints({-1})}, {4, 1}), std::nullopt);
  EXPECT_EQ(view_of_op("Broadcast", {}, data, {ints({4, 3})}, {4, 3}), std::nullopt);
  EXPECT_EQ(view_of_op("Tile", {}, data, {ints({1, 2})}, {4, 2}), std::nullopt);
}

TEST(MoveSupportsTest, RefusesBoundsThatAreComputedInTheRun) {
  const Tensor stop = ints({2});
  const std::vector<LowerInput> inputs = {{dense_desc(ElementType::f32, {4}), nullptr},
                                          {dense_desc(ElementType::i64, {1}), nullptr},
                                          {dense_desc(ElementType::i64, {1}), &stop},
                                          {dense_desc(ElementType::i64, {1}), &stop}};
  const std::vector<TensorDesc> outputs = {dense_desc(ElementType::f32, {1})};
  const Support support = find_op("Slice")->supports(make_node("Slice", {}, 4, 8), inputs, outputs, KernelCaps{});
  EXPECT_FALSE(support.ok);
  EXPECT_THAT(support.reason, HasSubstr("input 1 is computed in the run"));
}

TEST(MoveSupportsTest, RefusesWhatTheBitstreamLacks) {
  KernelCaps caps;
  caps.has_compiler = false;
  const Tensor order = ints({1, 0});
  const std::vector<LowerInput> inputs = {{dense_desc(ElementType::f32, {4, 4}), nullptr},
                                          {dense_desc(ElementType::i64, {2}), &order}};
  const std::vector<TensorDesc> outputs = {dense_desc(ElementType::f32, {4, 4})};
  const Node node = make_node("Transpose", {}, 2);
  EXPECT_THAT(find_op("Transpose")->supports(node, inputs, outputs, caps).reason, HasSubstr("copy_wide_tiles_b4"));
  caps.programmed = {"copy_wide.cl|ELEM=4|copy_wide_tiles_b4"};
  EXPECT_TRUE(find_op("Transpose")->supports(node, inputs, outputs, caps).ok);
}

TEST(ConcatViewsTest, PlacesInputsInsideTheOutput) {
  const Node node = make_node("Concat", {{"axis", "1"}}, 2);
  const TensorDesc output{ElementType::f32, {1, 5, 2, 2}, {20, 1, 10, 5}, 7};
  const std::vector<Shape> shapes = {{1, 2, 2, 2}, {1, 3, 2, 2}};
  EXPECT_THAT(concat_views(node, shapes, output), ElementsAre(View{{20, 1, 10, 5}, 7}, View{{20, 1, 10, 5}, 9}));
}

}  // namespace
}  // namespace headrace::test
