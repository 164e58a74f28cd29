// SPDX-License-Identifier: Apache-2.0
// Hand values and refusals of operators that read or write where indices say; the rest of their cases is golden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor int_matrix(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& values) {
  return make_i64_tensor({rows, columns}, values);
}

TEST(ScatterTest, LaterUpdateOfOnePlaceWins) {
  const Tensor data = floats({3}, {1, 2, 3});
  const std::vector<Tensor> slices = {data, ints({1, -2}), floats({2}, {7, 8}), int_scalar(0)};
  EXPECT_THAT(run_op("ScatterUpdate", {}, slices, 3)[0].values<float>(), ElementsAre(1, 8, 3));
  EXPECT_THAT(run_op("ScatterElementsUpdate", {}, slices, 12)[0].values<float>(), ElementsAre(1, 8, 3));
  const std::vector<Tensor> tuples = {data, int_matrix(2, 1, {2, -1}), floats({2}, {7, 8})};
  EXPECT_THAT(run_op("ScatterNDUpdate", {}, tuples, 15)[0].values<float>(), ElementsAre(1, 2, 8));
}

TEST(ScatterTest, ReducesWithAndWithoutTheData) {
  const std::vector<Tensor> inputs = {floats({3}, {10, 20, 30}), ints({1, 1}), floats({2}, {-3, 5}), int_scalar(0)};
  const auto reduced = [&](const char* reduction, const char* has_init) {
    return run_op("ScatterElementsUpdate", {{"reduction", reduction}, {"use_init_val", has_init}}, inputs, 12)[0];
  };
  EXPECT_THAT(reduced("sum", "true").values<float>(), ElementsAre(10, 22, 30));
  EXPECT_THAT(reduced("prod", "false").values<float>(), ElementsAre(10, -15, 30));
  EXPECT_THAT(reduced("min", "true").values<float>(), ElementsAre(10, -3, 30));
  EXPECT_THAT(reduced("max", "false").values<float>(), ElementsAre(10, 5, 30));
  EXPECT_THAT(reduced("mean", "false").values<float>(), ElementsAre(10, 1, 30));
}

TEST(ScatterTest, ReducesIntegersFromTheirOwnLimits) {
  for (const ElementType type : {ElementType::i8, ElementType::u8, ElementType::i32, ElementType::i64}) {
    const std::vector<Tensor> inputs = {convert(ints({9, 9}), type), ints({0}), convert(ints({3}), type),
                                        int_scalar(0)};
    for (const char* reduction : {"min", "max", "sum", "prod", "mean"}) {
      const RawAttributes raw = {{"reduction", reduction}, {"use_init_val", "false"}};
      EXPECT_THAT(to_int64s(run_op("ScatterElementsUpdate", raw, inputs, 12)[0]), ElementsAre(3, 9)) << reduction;
    }
  }
}

TEST(ScatterTest, IgnoresTheReductionOfOlderOpsets) {
  const std::vector<Tensor> inputs = {floats({1}, {1}), ints({0}), floats({1}, {5}), int_scalar(0)};
  EXPECT_THAT(run_op("ScatterElementsUpdate", {{"reduction", "sum"}}, inputs, 3)[0].values<float>(), ElementsAre(5));
}

TEST(ScatterTest, RefusesWhatDoesNotFit) {
  const Tensor data = counting({2, 3});
  EXPECT_THAT(error_of("ScatterUpdate", {}, {data, ints({2}), counting({1, 3}), int_scalar(0)}, 3),
              HasSubstr("index 2 at place 0 for an axis of size 2"));
  EXPECT_THAT(error_of("ScatterUpdate", {}, {data, ints({0}), counting({1, 2}), int_scalar(0)}, 3),
              HasSubstr("needs updates of shape [1,3], has [1,2]"));
  EXPECT_THAT(error_of("ScatterNDUpdate", {}, {data, ints({0, 0, 0}), counting({})}, 3), HasSubstr("indices [3]"));
  EXPECT_THAT(error_of("ScatterNDUpdate", {}, {data, ints({0, 3}), counting({})}, 3), HasSubstr("index 3"));
  EXPECT_THAT(error_of("ScatterElementsUpdate", {}, {data, ints({0}), counting({1}), int_scalar(0)}, 3),
              HasSubstr("rank 2"));
  EXPECT_THAT(error_of("ScatterElementsUpdate", {}, {data, data, data, int_scalar(0)}, 3), HasSubstr("i32 or i64"));
}

TEST(GatherNdTest, KeepsOrJoinsBatches) {
  const Tensor data = counting({2, 1, 3});
  const Tensor indices = make_i64_tensor({2, 1, 1}, std::vector<std::int64_t>{2, -3});
  const Tensor kept = run_op("GatherND", {{"batch_dims", "2"}}, {data, indices}, 8)[0];
  EXPECT_EQ(kept.shape(), (Shape{2, 1}));
  EXPECT_THAT(kept.values<float>(), ElementsAre(2, 3));
  EXPECT_EQ(run_op("GatherND", {{"batch_dims", "2"}}, {data, indices}, 5)[0].shape(), (Shape{2}));
  EXPECT_THAT(error_of("GatherND", {{"batch_dims", "3"}}, {data, indices}, 8), HasSubstr("batch_dims 3"));
  EXPECT_THAT(error_of("GatherND", {}, {data, ints({5})}, 8), HasSubstr("index 5"));
}

TEST(GatherElementsTest, RefusesIndicesOutside) {
  EXPECT_THAT(error_of("GatherElements", {{"axis", "0"}}, {counting({3}), ints({3})}, 6), HasSubstr("index 3"));
  EXPECT_THAT(error_of("GatherElements", {{"axis", "0"}}, {counting({2, 2}), int_matrix(1, 3, {0, 0, 0})}, 6),
              HasSubstr("reach past"));
}

TEST(CumSumTest, SumsBothWays) {
  const Tensor data = counting({3}, 1);
  EXPECT_THAT(run_op("CumSum", {}, {data, int_scalar(0)}, 3)[0].values<float>(), ElementsAre(1, 3, 6));
  EXPECT_THAT(run_op("CumSum", {{"exclusive", "true"}}, {data}, 3)[0].values<float>(), ElementsAre(0, 1, 3));
  EXPECT_THAT(run_op("CumSum", {{"reverse", "true"}}, {data, int_scalar(-1)}, 3)[0].values<float>(),
              ElementsAre(6, 5, 3));
  EXPECT_EQ(run_op("CumSum", {}, {counting({0, 2}), int_scalar(0)}, 3)[0].count(), 0);
}

TEST(RollTest, ShiftsRoundTheEnds) {
  EXPECT_THAT(run_op("Roll", {}, {counting({4}), ints({-9}), ints({0})}, 7)[0].values<float>(),
              ElementsAre(1, 2, 3, 0));
  // One shift for all axes, an axis named twice, a shift that would overflow.
  EXPECT_THAT(run_op("Roll", {}, {counting({4}), ints({1}), ints({0, -1})}, 7)[0].values<float>(),
              ElementsAre(2, 3, 0, 1));
  const Tensor far = ints({std::numeric_limits<std::int64_t>::min()});
  EXPECT_THAT(run_op("Roll", {}, {counting({4}), far, ints({0})}, 7)[0].values<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(error_of("Roll", {}, {counting({4}), ints({1, 2}), ints({0})}, 7), HasSubstr("2 shifts for 1 axes"));
}

TEST(ReverseSequenceTest, ReversesTheFirstElements) {
  const Tensor data = counting({2, 3});
  EXPECT_THAT(run_op("ReverseSequence", {}, {data, ints({2, 3})})[0].values<float>(), ElementsAre(1, 0, 2, 5, 4, 3));
  EXPECT_THAT(error_of("ReverseSequence", {}, {data, ints({4, 1})}), HasSubstr("sequence length of 4"));
  EXPECT_THAT(error_of("ReverseSequence", {{"seq_axis", "0"}}, {data, ints({1, 1})}), HasSubstr("one axis"));
}

TEST(BatchSpaceTest, MovesBlocksBothWays) {
  const Tensor data = counting({1, 2, 2});
  const std::vector<Tensor> there = {data, ints({1, 2, 1}), ints({0, 1, 0}), ints({0, 1, 0})};
  const Tensor blocked = run_op("SpaceToBatch", {}, there, 2)[0];
  EXPECT_EQ(blocked.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(blocked.values<float>(), ElementsAre(0, 0, 2, 3, 0, 1, 0, 0));
  const std::vector<Tensor> back = {blocked, there[1], there[2], there[3]};
  EXPECT_THAT(run_op("BatchToSpace", {}, back, 2)[0].values<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(error_of("SpaceToBatch", {}, {data, ints({1, 3, 1}), ints({0, 0, 0}), ints({0, 0, 0})}, 2),
              HasSubstr("no multiple of 3"));
  EXPECT_THAT(error_of("BatchToSpace", {}, {data, ints({1, 2, 1}), ints({0, 0, 0}), ints({0, 0, 0})}, 2),
              HasSubstr("no multiple of 2"));
  EXPECT_THAT(error_of("BatchToSpace", {}, {data, ints({1, 1, 0}), ints({0, 0, 0}), ints({0, 0, 0})}, 2),
              HasSubstr("block 0"));
}

TEST(EinsumTest, RefusesBadEquations) {
  const Tensor a = counting({2, 3});
  EXPECT_THAT(error_of("Einsum", {{"equation", "ij,jk->ik"}}, {a, a}, 7), HasSubstr("the sizes 3 and 2"));
  EXPECT_THAT(error_of("Einsum", {{"equation", "ij->ij"}}, {a, a}, 7), HasSubstr("1 terms for 2 inputs"));
  EXPECT_THAT(error_of("Einsum", {{"equation", "ijk->i"}}, {a}, 7), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("Einsum", {{"equation", "ij->k"}}, {a}, 7), HasSubstr("no input has"));
  EXPECT_THAT(error_of("Einsum", {{"equation", "ij->ii"}}, {a}, 7), HasSubstr("repeats"));
  EXPECT_THAT(error_of("Einsum", {{"equation", "i$->i"}}, {a}, 7), HasSubstr("unknown sign"));
  EXPECT_THAT(run_op("Einsum", {{"equation", " i j "}}, {a}, 7)[0].values<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
  // The trace, and an ellipsis of no dimensions.
  EXPECT_THAT(run_op("Einsum", {{"equation", "ii"}}, {counting({2, 2})}, 7)[0].values<float>(), ElementsAre(3));
  EXPECT_THAT(run_op("Einsum", {{"equation", "...ij->...j"}}, {a}, 7)[0].values<float>(), ElementsAre(3, 5, 7));
}

TEST(GridSampleTest, ReadsZeroForNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* padding : {"zeros", "border", "reflection"}) {
    const Tensor grid = floats({1, 1, 2, 2}, {nan, 0, 0, 0});
    const RawAttributes raw = {{"padding_mode", padding}, {"mode", "nearest"}};
    EXPECT_THAT(run_op("GridSample", raw, {counting({1, 1, 3, 3}), grid}, 9)[0].values<float>(), ElementsAre(0, 4));
  }
  EXPECT_THAT(error_of("GridSample", {}, {counting({1, 1, 3, 3}), counting({2, 1, 1, 2})}, 9), HasSubstr("grid"));
}

TEST(EyeTest, RefusesNegativeSizes) {
  EXPECT_THAT(error_of("Eye", {}, {int_scalar(-1), int_scalar(2), int_scalar(0)}, 9), HasSubstr("negative"));
}

TEST(BitwiseTest, ShiftsWithoutUndefinedBehaviour) {
  EXPECT_THAT(to_int64s(run_op("BitwiseLeftShift", {}, {ints({1, 1, 1}), ints({63, 64, -1})}, 15)[0]),
              ElementsAre(std::numeric_limits<std::int64_t>::min(), 0, 0));
  EXPECT_THAT(to_int64s(run_op("BitwiseRightShift", {}, {ints({-8, -8}), ints({1, 99})}, 15)[0]), ElementsAre(-4, -1));
  EXPECT_THAT(error_of("BitwiseNot", {}, {counting({2})}, 13), HasSubstr("integers or booleans"));
}

}  // namespace
}  // namespace headrace::test
