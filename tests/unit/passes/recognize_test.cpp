// SPDX-License-Identifier: Apache-2.0
// Layer norm, channel shuffles and pads that exporters write as several nodes.
#include <gtest/gtest.h>

#include "passes/fold_pad.hpp"
#include "passes/recognize_layer_norm.hpp"
#include "passes/recognize_shuffle.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

struct ShuffleCase {
  std::vector<std::int64_t> parts;
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> whole;
  bool is_shuffle;
};

class ShuffleTest : public ::testing::TestWithParam<ShuffleCase> {};

TEST_P(ShuffleTest, IsFoundOnlyWhereGroupsAndMembersSwap) {
  GraphBuilder builder;
  const RawAttributes plain = {{"special_zero", "false"}};
  PortRef t = builder.parameter("x", "2,6,3,3");
  t = builder.op("Reshape", "split", {t, builder.ints("parts", GetParam().parts)}, plain);
  t = builder.op("Transpose", "swap", {t, builder.ints("order", GetParam().order)});
  builder.result(builder.op("Reshape", "join", {t, builder.ints("whole", GetParam().whole)}, plain), "out");
  const Graph graph = expect_same_meaning(builder.graph, recognize_shuffle);
  EXPECT_EQ(count_type(graph, "ShuffleChannels"), GetParam().is_shuffle ? 1U : 0U);
  EXPECT_EQ(count_type(graph, "Transpose"), GetParam().is_shuffle ? 0U : 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ShuffleTest,
    ::testing::Values(ShuffleCase{{2, 3, 2, 3, 3}, {0, 2, 1, 3, 4}, {2, 6, 3, 3}, true},
                      ShuffleCase{{2, 2, 3, 3, 3}, {0, 2, 1, 3, 4}, {2, 6, 3, 3}, true},
                      ShuffleCase{{2, 3, 2, 3, 3}, {0, 2, 1, 4, 3}, {2, 6, 3, 3}, false},    // H and W swap too
                      ShuffleCase{{2, 3, 2, 3, 3}, {0, 1, 3, 2, 4}, {2, 6, 3, 3}, false},    // members and H
                      ShuffleCase{{2, 3, 2, 3, 3}, {0, 2, 1, 3, 4}, {2, 2, 9, 3}, false}));  // another shape

TEST(RecognizeShuffleTest, PartThatIsAnOutputStays) {
  GraphBuilder builder;
  PortRef t = builder.op("Reshape", "split", {builder.parameter("x", "1,4,2"), builder.ints("p", {1, 2, 2, 2})},
                         {{"special_zero", "false"}});
  t = builder.op("Transpose", "swap", {t, builder.ints("o", {0, 2, 1, 3})});
  builder.result(t, "middle");
  builder.result(builder.op("Reshape", "join", {t, builder.ints("w", {1, 4, 2})}, {{"special_zero", "false"}}));
  EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_shuffle), "Transpose"), 1U);
}

// (x - mean) / sqrt(var + eps) in four writings.
TEST(RecognizeLayerNormTest, WritingsOfExporters) {
  for (int form = 0; form < 4; ++form) {
    GraphBuilder builder;
    const PortRef x = builder.op("Tanh", "in", {builder.parameter("x", "2,3,8")});
    const RawAttributes keep = {{"keep_dims", "true"}};
    const PortRef mean = builder.op("ReduceMean", "mean", {x, builder.ints("axes", {-1})}, keep);
    const PortRef d = builder.op("Subtract", "d", {x, mean});
    const PortRef square = form % 2 == 0 ? builder.op("Power", "sq", {d, builder.floats("two", {}, {2})})
                                         : builder.op("Multiply", "sq", {d, d});
    const PortRef variance = builder.op("ReduceMean", "var", {square, builder.ints("axes2", {2})}, keep);
    const PortRef sum = builder.op("Add", "eps", {variance, builder.floats("e", {}, {1e-5F})});
    const PortRef root = form < 2 ? builder.op("Sqrt", "root", {sum})
                                  : builder.op("Power", "root", {sum, builder.floats("half", {}, {0.5F})});
    builder.result(builder.op("Divide", "y", {d, root}), "out");
    SCOPED_TRACE(form);
    const Graph graph = expect_same_meaning(builder.graph, recognize_layer_norm);
    EXPECT_EQ(count_type(graph, "MVN"), 1U) << dump(graph);
    EXPECT_EQ(graph.nodes().size(), 5U);  // x, in, axes, MVN, result
  }
}

TEST(RecognizeLayerNormTest, OtherAxesOrPowersStay) {
  for (int form = 0; form < 2; ++form) {
    GraphBuilder builder;
    const PortRef x = builder.parameter("x", "2,3,8");
    const RawAttributes keep = {{"keep_dims", "true"}};
    const PortRef d =
        builder.op("Subtract", "d", {x, builder.op("ReduceMean", "m", {x, builder.ints("a", {2})}, keep)});
    const PortRef square = builder.op("Power", "sq", {d, builder.floats("p", {}, {form == 0 ? 4.0F : 2.0F})});
    const PortRef variance = builder.op("ReduceMean", "var", {square, builder.ints("b", {form == 0 ? 2 : 1})}, keep);
    const PortRef sum = builder.op("Add", "eps", {variance, builder.floats("e", {}, {1e-5F})});
    builder.result(builder.op("Divide", "y", {d, builder.op("Sqrt", "root", {sum})}));
    EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_layer_norm), "MVN"), 0U);
  }
}

struct PadCase {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  std::string mode;
  float value;
  std::string auto_pad;
  bool folds;
};

class FoldPadTest : public ::testing::TestWithParam<PadCase> {};

TEST_P(FoldPadTest, FoldsZerosAroundTheSpatialDimensions) {
  const PadCase& test = GetParam();
  GraphBuilder builder;
  const PortRef padded = builder.op("Pad", "pad",
                                    {builder.parameter("x", "1,2,5,5"), builder.ints("b", test.begin),
                                     builder.ints("e", test.end), builder.floats("v", {}, {test.value})},
                                    {{"pad_mode", test.mode}}, 12);
  const PortRef out = builder.op("Convolution", "conv", {padded, builder.random("w", {3, 2 + test.begin[1], 3, 3}, 1)},
                                 {{"auto_pad", test.auto_pad}, {"pads_begin", "1,0"}, {"pads_end", "0,1"}});
  builder.result(out, "out");
  const Graph graph = expect_same_meaning(builder.graph, fold_pad);
  EXPECT_EQ(count_type(graph, "Pad"), test.folds ? 0U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Cases, FoldPadTest,
                         ::testing::Values(PadCase{{0, 0, 1, 2}, {0, 0, 3, 0}, "constant", 0, "explicit", true},
                                           PadCase{{0, 0, 1, 2}, {0, 0, 3, 0}, "constant", 0, "valid", true},
                                           PadCase{{0, 0, 1, 2}, {0, 0, 3, 0}, "constant", 0, "same_upper", false},
                                           PadCase{{0, 0, 1, 2}, {0, 0, 3, 0}, "constant", 1, "explicit", false},
                                           PadCase{{0, 0, 1, 2}, {0, 0, 3, 0}, "reflect", 0, "explicit", false},
                                           PadCase{{0, 1, 1, 2}, {0, 0, 3, 0}, "constant", 0, "explicit", false},
                                           PadCase{{0, 0, -1, 2}, {0, 0, 3, 0}, "constant", 0, "explicit", false}));

}  // namespace
}  // namespace headrace::testing
