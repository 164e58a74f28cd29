// SPDX-License-Identifier: Apache-2.0
// Moving operators on every device: bit for bit against the reference, in every memory order.
#include <gtest/gtest.h>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

OpCase moving(const std::string& type, const RawAttributes& raw, std::vector<Tensor> inputs, std::int32_t opset = 8) {
  OpCase result;
  result.type = type;
  result.attributes = raw;
  for (std::size_t i = 1; i < inputs.size(); ++i) result.constants.push_back(i);
  result.inputs = std::move(inputs);
  result.opset = opset;
  result.tolerance = 0;
  return result;
}

Tensor list(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return ints({count}, std::move(values));
}

TEST(MoveOpTest, TransposesAroundTheTile) {
  for (const Shape& shape : {Shape{1, 3, 17, 15}, Shape{2, 16, 4, 8}, Shape{1, 33, 5, 7}, Shape{1, 1, 16, 16},
                             Shape{3, 2, 1, 31}, Shape{1, 4, 160, 3}, Shape{2, 130, 3, 129}}) {
    check_op(moving("Transpose", {}, {random_tensor(shape, 1), list({0, 2, 3, 1})}));
    check_op(moving("Transpose", {}, {random_tensor(shape, 2), list({3, 1, 0, 2})}));
  }
  check_op(moving("Transpose", {}, {random_tensor({2, 3, 4, 5, 3, 2, 3}, 3), list({6, 4, 2, 0, 1, 3, 5})}));
  check_op(moving("Transpose", {}, {random_tensor({757}, 3), list({0})}));
}

TEST(MoveOpTest, MovesEveryElementSize) {
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    for (const Shape& shape : {Shape{1, 3, 20, 9}, Shape{2, 19, 3, 5}}) {
      check_op(moving("Transpose", {}, {random_ints(type, shape, 4, 0, 100), list({0, 2, 3, 1})}));
      check_op(moving("Split", {{"num_splits", "1"}}, {random_ints(type, shape, 5, 0, 100), ints({}, {1})}));
      check_op(moving("Gather", {}, {random_ints(type, shape, 5, 0, 100), list({2, 0, -1}), ints({}, {1})}));
    }
  }
}

TEST(MoveOpTest, ReshapesFromEveryOrder) {
  check_op(moving("Reshape", {}, {random_tensor({2, 5, 3, 4}, 6), list({10, -1})}));
  check_op(moving("Reshape", {{"special_zero", "true"}}, {random_tensor({2, 17, 3, 4}, 6), list({0, -1})}));
  check_op(moving("Squeeze", {}, {random_tensor({1, 5, 1, 4}, 7), list({0, 2})}));
  check_op(moving("Unsqueeze", {}, {random_tensor({5, 4, 3}, 8), list({0, -1})}));
  check_op(moving("Reshape", {}, {random_tensor({0, 3}, 6), list({3, 0})}));
}

TEST(MoveOpTest, JoinsAndCuts) {
  for (const char* axis : {"0", "1", "2", "-1"}) {
    OpCase join =
        moving("Concat", {{"axis", axis}},
               {random_tensor({2, 3, 4, 5}, 9), random_tensor({2, 3, 4, 5}, 10), random_tensor({2, 3, 4, 5}, 11)});
    join.constants.clear();
    check_op(join);
  }
  OpCase uneven = moving("Concat", {{"axis", "1"}}, {random_tensor({1, 64, 7, 7}, 9), random_tensor({1, 3, 7, 7}, 10)});
  uneven.constants.clear();
  check_op(uneven);
  for (const std::int64_t axis : {0, 1, 3}) {
    check_op(moving("Split", {{"num_splits", "2"}}, {random_tensor({2, 6, 3, 4}, 12), ints({}, {axis})}));
  }
  check_op(moving("VariadicSplit", {}, {random_tensor({1, 40, 3, 3}, 13), ints({}, {1}), list({7, -1, 16})}));
}

TEST(MoveOpTest, SlicesForwardsAndBackwards) {
  const Tensor data = random_tensor({2, 20, 9, 7}, 14);
  check_op(moving("Slice", {}, {data, list({3, 8}), list({17, -20}), list({2, -1}), list({1, 2})}));
  check_op(moving("Slice", {}, {data, list({-1}), list({-100}), list({-3}), list({-1})}));
  check_op(moving("Slice", {}, {data, list({5}), list({5}), list({1}), list({1})}));
  check_op(
      moving("StridedSlice",
             {{"begin_mask", "1,0,0"}, {"end_mask", "1,0,0"}, {"shrink_axis_mask", "0,1"}, {"new_axis_mask", "0,0,1"}},
             {data, list({0, 3, 0, 2}), list({0, 4, 0, 8}), list({-1, 1, 1, 2})}));
}

TEST(MoveOpTest, PadsInEveryMode) {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric"}) {
    check_op(moving("Pad", {{"pad_mode", mode}},
                    {random_tensor({1, 17, 5, 6}, 15), list({0, 0, 1, 2}), list({0, 0, 3, 1})}));
    check_op(
        moving("Pad", {{"pad_mode", mode}}, {random_tensor({2, 4, 5}, 15), list({1, -1, 2}), list({1, 2, -3})}, 12));
  }
  check_op(
      moving("Pad", {}, {random_tensor({1, 3, 4, 4}, 16), list({0, 5, 1, 1}), list({1, 0, 1, 1}), floats({}, {-7})}));
}

TEST(MoveOpTest, RepeatsAndRearranges) {
  check_op(moving("Broadcast", {}, {random_tensor({1, 20, 1, 1}, 17), list({2, 20, 5, 6})}));
  check_op(moving("Broadcast", {}, {random_tensor({5, 1}, 17), list({3, 5, 40})}));
  check_op(moving("Broadcast", {{"mode", "explicit"}}, {random_tensor({3, 4}, 17), list({3, 2, 4}), list({0, 2})}));
  check_op(moving("Tile", {}, {random_tensor({2, 3, 5}, 18), list({2, 1, 3, 2})}));
  for (const char* mode : {"blocks_first", "depth_first"}) {
    const RawAttributes raw = {{"mode", mode}, {"block_size", "2"}};
    check_op(moving("DepthToSpace", raw, {random_tensor({2, 12, 5, 3}, 19)}));
    check_op(moving("SpaceToDepth", raw, {random_tensor({2, 3, 6, 4}, 20)}));
    check_op(moving("DepthToSpace", raw, {random_tensor({2, 16, 3, 2, 5}, 21)}));
  }
  check_op(moving("ShuffleChannels", {{"group", "4"}}, {random_tensor({2, 24, 5, 3}, 22)}));
  check_op(moving("ShuffleChannels", {{"group", "2"}, {"axis", "2"}}, {random_tensor({2, 3, 6, 3}, 22)}));
}

TEST(MoveOpTest, GathersWithConstantAndComputedIndices) {
  const Tensor data = random_tensor({3, 40, 6}, 23);
  for (const std::int64_t axis : {0, 1, 2}) {
    check_op(moving("Gather", {}, {data, ints({2, 2}, {0, -1, 2, 1}), ints({}, {axis})}));
  }
  OpCase computed = moving("Gather", {}, {data, random_ints(ElementType::i32, {5}, 24, -40, 39), ints({}, {1})});
  computed.constants = {2};
  check_op(computed);
  check_op(
      moving("Gather", {{"batch_dims", "1"}}, {data, random_ints(ElementType::i64, {3, 4}, 24, 0, 39), ints({}, {1})}));
}

TEST(MoveOpTest, SortsAndCodes) {
  for (const char* mode : {"max", "min"}) {
    for (const char* sort : {"value", "index", "none"}) {
      const RawAttributes raw = {{"axis", "1"}, {"mode", mode}, {"sort", sort}, {"index_element_type", "i64"}};
      check_op(moving("TopK", raw, {random_tensor({2, 50, 3}, 25), ints({}, {7})}));
      check_op(moving("TopK", raw, {random_ints(ElementType::i32, {2, 50, 3}, 25, 0, 9), ints({}, {50})}));
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_op(moving("TopK", {{"axis", "0"}, {"mode", "max"}, {"sort", "value"}},
                  {floats({5}, {1, nan, 3, nan, 2}), ints({}, {3})}));
  OpCase codes =
      moving("OneHot", {{"axis", "1"}},
             {random_ints(ElementType::i64, {2, 5}, 26, -1, 6), ints({}, {6}), floats({}, {2}), floats({}, {-1})});
  check_op(codes);
}

TEST(MoveOpTest, KeepsNanAndInfinityBits) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  check_op(moving("Transpose", {}, {floats({2, 3}, {nan, inf, -inf, -0.0F, 1e-42F, 1}), list({1, 0})}));
}

}  // namespace
}  // namespace headrace::test
