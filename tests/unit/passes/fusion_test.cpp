// SPDX-License-Identifier: Apache-2.0
// Scale, bias, residual and activation fusion: the structure after each pass, and equal numbers.
#include <gtest/gtest.h>

#include "passes/decompose_batch_norm.hpp"
#include "passes/fold_constants.hpp"
#include "passes/fold_scale.hpp"
#include "passes/fuse_activation.hpp"
#include "passes/fuse_bias.hpp"
#include "passes/fuse_residual.hpp"
#include "passes/fuse_scale.hpp"
#include "passes/recompose_batch_norm.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

void fuse_all(Graph& graph) {
  fuse_scale(graph);
  fold_scale(graph);
  fuse_bias(graph);
  recompose_batch_norm(graph);
  fuse_residual(graph);
  fuse_activation(graph);
}

PortRef conv(GraphBuilder& builder, const std::string& name, PortRef x, std::int64_t in, std::int64_t out,
             unsigned seed = 3) {
  return builder.op("Convolution", name, {x, builder.random(name + "/w", {out, in, 3, 3}, seed)},
                    {{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}});
}

// One weighted operator of each kind with four output channels (MatMul: columns).
struct Weighted {
  std::string type;
  Shape constant;  // of a per-channel constant
};

PortRef weighted(GraphBuilder& builder, const std::string& type, PortRef x) {
  const RawAttributes window = {{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};
  if (type == "Convolution") return builder.op(type, "op", {x, builder.random("w", {4, 4, 3, 3}, 1)}, window);
  if (type == "GroupConvolution") return builder.op(type, "op", {x, builder.random("w", {2, 2, 2, 3, 3}, 1)}, window);
  if (type == "ConvolutionBackpropData")
    return builder.op(type, "op", {x, builder.random("w", {4, 4, 3, 3}, 1)}, window);
  if (type == "GroupConvolutionBackpropData") {
    return builder.op(type, "op", {x, builder.random("w", {2, 2, 2, 3, 3}, 1)}, window);
  }
  return builder.op("MatMul", "op", {x, builder.random("w", {4, 4}, 1)}, {{"transpose_b", "true"}});
}

class WeightedTest : public ::testing::TestWithParam<Weighted> {};

TEST_P(WeightedTest, ScaleShiftAndActivationFoldIntoOneNode) {
  GraphBuilder builder;
  const auto& [type, shape] = GetParam();
  PortRef t = weighted(builder, type, builder.parameter("x", "2,4,5,4"));
  t = builder.op("Add", "bias", {builder.random("b", shape, 2), t});
  t = builder.op("Multiply", "scale", {t, builder.random("s", shape, 3)});
  t = builder.op("Subtract", "shift", {t, builder.random("d", shape, 4)});
  t = builder.op("Divide", "half", {t, builder.floats("two", {}, {2})});
  t = builder.op("ReLU", "relu", {t});
  builder.result(t, "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(graph.nodes().size(), 5U) << dump(graph);  // x, weights, bias, op, result
  const Node& node = graph.at(graph.find("op"));
  EXPECT_EQ(node.epilogue.bias_input, 2);
  EXPECT_EQ(node.epilogue.activation, Activation::kRelu);
  EXPECT_EQ(graph.info(node.inputs[2]).shape, (Shape{4}));
  for (const std::string layer : {"bias", "scale", "shift", "half", "relu"}) {
    EXPECT_EQ(std::count(node.fused_names.begin(), node.fused_names.end(), layer), 1) << layer << "\n" << dump(graph);
  }
}

TEST_P(WeightedTest, OutputInTheMiddleIsNotFusedAway) {
  GraphBuilder builder;
  const auto& [type, shape] = GetParam();
  PortRef t = weighted(builder, type, builder.parameter("x", "2,4,5,4"));
  builder.result(t, "raw");
  t = builder.op("Add", "bias", {t, builder.random("b", shape, 2)});
  builder.result(t, "biased");
  t = builder.op("ReLU", "relu", {t});
  builder.result(t, "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_TRUE(graph.at(graph.find("op")).epilogue.is_empty());
}

TEST_P(WeightedTest, SecondReaderStopsFusion) {
  GraphBuilder builder;
  const auto& [type, shape] = GetParam();
  const PortRef t = weighted(builder, type, builder.parameter("x", "2,4,5,4"));
  builder.result(builder.op("Multiply", "scale", {t, builder.random("s", shape, 2)}));
  builder.result(builder.op("Tanh", "tanh", {t}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_TRUE(graph.at(graph.find("op")).epilogue.is_empty());
  EXPECT_EQ(count_type(graph, "Multiply"), 1U);
}

TEST_P(WeightedTest, ConstantAlongAnotherAxisStays) {
  GraphBuilder builder;
  const auto& [type, shape] = GetParam();
  const PortRef t = weighted(builder, type, builder.parameter("x", "2,4,5,4"));
  const Shape other = {5, 1};  // rows: neither channels nor columns
  builder.result(
      builder.op("Add", "add",
                 {builder.op("Multiply", "mul", {t, builder.random("s", other, 2)}), builder.random("d", other, 3)}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Multiply"), 1U);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Types, WeightedTest,
                         ::testing::Values(Weighted{"Convolution", {1, 4, 1, 1}},
                                           Weighted{"GroupConvolution", {4, 1, 1}},
                                           Weighted{"ConvolutionBackpropData", {1, 4, 1, 1}},
                                           Weighted{"GroupConvolutionBackpropData", {4, 1, 1}},
                                           Weighted{"MatMul", {4}}),
                         [](const auto& test) { return test.param.type; });

// Normalization in front of a ReLU, as in DenseNet: nothing to fold it into.
PortRef scale_and_shift(GraphBuilder& builder, PortRef x, const Shape& factor, const Shape& term) {
  const PortRef product = builder.op("Multiply", "scale", {x, builder.random("s", factor, 3)});
  return builder.op("Add", "shift", {builder.random("d", term, 4), product});
}

TEST(RecomposeBatchNormTest, ScaleShiftAndActivationAreOneNode) {
  for (const Shape& shape : {Shape{4, 1, 1}, Shape{1, 4, 1, 1}}) {
    GraphBuilder builder;
    const PortRef t = scale_and_shift(builder, builder.parameter("x", "2,4,5,4"), shape, {1});
    builder.result(builder.op("ReLU", "relu", {t}), "out");
    const Graph graph = expect_same_meaning(builder.graph, fuse_all);
    EXPECT_EQ(count_type(graph, "BatchNormInference"), 1U);
    EXPECT_EQ(count_type(graph, "Multiply") + count_type(graph, "Add") + count_type(graph, "ReLU"), 0U);
  }
}

TEST(RecomposeBatchNormTest, OtherAxesStay) {
  GraphBuilder builder;
  builder.result(scale_and_shift(builder, builder.parameter("x", "2,4,5,4"), {4}, {4, 1, 1}), "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "BatchNormInference"), 0U);
}

TEST(RecomposeBatchNormTest, SecondReaderAndOutputsStay) {
  for (const bool is_output : {true, false}) {
    GraphBuilder builder;
    const PortRef x = builder.parameter("x", "2,4,5,4");
    const PortRef product = builder.op("Multiply", "scale", {x, builder.random("s", {4, 1, 1}, 3)});
    builder.result(builder.op("Add", "shift", {product, builder.random("d", {4, 1, 1}, 4)}), "out");
    builder.result(is_output ? product : builder.op("Exp", "exp", {product}), "other");
    const Graph graph = expect_same_meaning(builder.graph, fuse_all);
    EXPECT_EQ(count_type(graph, "BatchNormInference"), 0U);
  }
}

TEST(FuseScaleTest, MeanAndScaleOfPicturesBecomeOneAdd) {
  GraphBuilder builder;
  PortRef t = builder.parameter("image", "1,3,6,6");
  t = builder.op("Subtract", "mean", {t, builder.floats("m", {1, 3, 1, 1}, {123.675F, 116.28F, 103.53F})});
  t = builder.op("Divide", "scale", {t, builder.floats("s", {1, 3, 1, 1}, {58.395F, 57.12F, 57.375F})});
  builder.result(conv(builder, "conv", t, 3, 4));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all, 1e-4);
  EXPECT_EQ(count_type(graph, "Add"), 1U) << dump(graph);
  EXPECT_EQ(count_type(graph, "Multiply") + count_type(graph, "Divide") + count_type(graph, "Subtract"), 0U);
}

TEST(FuseScaleTest, ScaleThenShiftBeforePaddedConvolution) {
  GraphBuilder builder;
  PortRef t = builder.parameter("image", "1,3,6,6");
  t = builder.op("Multiply", "scale", {t, builder.floats("s", {}, {1.0F / 128})});
  t = builder.op("Add", "shift", {t, builder.floats("m", {1, 3, 1, 1}, {-1, -2, -3})});
  builder.result(conv(builder, "conv", t, 3, 4));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all, 1e-4);
  EXPECT_EQ(count_type(graph, "Multiply"), 0U) << dump(graph);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
}

TEST(FuseScaleTest, DivisionByZeroStays) {
  GraphBuilder builder;
  PortRef t = conv(builder, "conv", builder.parameter("x", "1,2,4,4"), 2, 2);
  t = builder.op("Divide", "div", {t, builder.floats("z", {1, 2, 1, 1}, {0, 1})});
  builder.result(t);
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Divide"), 1U);
}

TEST(FuseScaleTest, InfiniteConstantsKeepTheirOrder) {
  GraphBuilder builder;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  PortRef t = builder.parameter("x", "2");
  t = builder.op("Add", "a", {t, builder.floats("ca", {2}, {kInfinity, 1})});
  t = builder.op("Add", "b", {t, builder.floats("cb", {2}, {-kInfinity, 2})});
  builder.result(t);
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Add"), 2U);
}

TEST(FuseScaleTest, IntegersAreLeftAlone) {
  GraphBuilder builder;
  PortRef t = builder.parameter("x", "2", ElementType::i64);
  t = builder.op("Divide", "a", {t, builder.ints("three", {3})});
  builder.result(builder.op("Multiply", "b", {t, builder.ints("two", {2})}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Divide"), 1U);
}

TEST(FuseScaleTest, ConstantThatWidensTheResultStays) {
  GraphBuilder builder;
  PortRef t = conv(builder, "conv", builder.parameter("x", "1,2,4,4"), 2, 1);
  builder.result(builder.op("Add", "add", {t, builder.random("c", {1, 3, 1, 1}, 5)}));  // [1,1,4,4] -> [1,3,4,4]
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
}

TEST(FuseScaleTest, SharedWeightsAreScaledForOneReaderOnly) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,4,4");
  const PortRef w = builder.random("w", {2, 2, 1, 1}, 1);
  const PortRef a = builder.op("Convolution", "a", {x, w});
  const PortRef b = builder.op("Convolution", "b", {x, w});
  builder.result(builder.op("Multiply", "mul", {a, builder.floats("three", {}, {3})}));
  builder.result(b);
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Multiply"), 0U);
}

TEST(FuseResidualTest, LaterConvolutionTakesTheSumAndTheActivation) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,4,4");
  const PortRef a = conv(builder, "a", x, 2, 2, 1);
  const PortRef b = conv(builder, "b", builder.op("ReLU", "between", {x}), 2, 2, 2);
  const PortRef sum = builder.op("Add", "sum", {b, a});
  builder.result(builder.op("ReLU", "relu", {sum}), "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Add"), 0U);
  EXPECT_EQ(graph.at(graph.find("a")).epilogue.residual_input, -1);
  const Node& later = graph.at(graph.find("b"));
  EXPECT_EQ(later.epilogue.residual_input, 2);
  EXPECT_EQ(later.epilogue.activation, Activation::kRelu);
}

TEST(FuseResidualTest, ResNetBlockIsTwoConvolutions) {
  GraphBuilder builder;
  const PortRef x = builder.op("ReLU", "in", {builder.parameter("x", "1,2,4,4")});
  PortRef t = conv(builder, "a", x, 2, 2, 1);
  t = builder.op("ReLU", "relu1", {builder.op("Add", "bias1", {t, builder.random("b1", {1, 2, 1, 1}, 5)})});
  t = builder.op("Add", "bias2", {conv(builder, "b", t, 2, 2, 2), builder.random("b2", {1, 2, 1, 1}, 6)});
  t = builder.op("Add", "sum", {t, x});
  builder.result(builder.op("Clamp", "relu6", {t}, {{"min", "0"}, {"max", "6"}}), "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(graph.nodes().size(), 9U) << dump(graph);  // x, in, 2 convs, 2 weights, 2 biases, result
  const Node& last = graph.at(graph.find("b"));
  EXPECT_EQ(last.epilogue.bias_input, 2);
  EXPECT_EQ(last.epilogue.residual_input, 3);
  EXPECT_EQ(last.epilogue.activation, Activation::kClamp);
  EXPECT_EQ(last.epilogue.beta, 6.0F);
}

TEST(FuseResidualTest, ActivatedConvolutionIsNoAddend) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,4,4");
  const PortRef t = builder.op("ReLU", "relu", {conv(builder, "a", x, 2, 2)});
  builder.result(builder.op("Add", "sum", {t, builder.op("Tanh", "tanh", {x})}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
  EXPECT_EQ(graph.at(graph.find("a")).epilogue.activation, Activation::kRelu);
}

TEST(FuseResidualTest, DoubledTensorAndBroadcastAddendStay) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,4,4");
  const PortRef a = conv(builder, "a", x, 2, 2, 1);
  builder.result(builder.op("Add", "twice", {a, a}));
  const PortRef b = conv(builder, "b", x, 2, 2, 2);
  builder.result(builder.op("Add", "wide", {b, builder.parameter("y", "1,2,1,1")}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "Add"), 2U);
}

struct ActivationCase {
  std::string type;
  RawAttributes raw;
  std::vector<float> scalars;  // further inputs
  std::int32_t opset;
  Activation expected;
};

class ActivationTest : public ::testing::TestWithParam<ActivationCase> {};

TEST_P(ActivationTest, FusesIntoConvolution) {
  GraphBuilder builder;
  std::vector<PortRef> inputs = {conv(builder, "conv", builder.parameter("x", "1,2,4,4"), 2, 2)};
  for (const float value : GetParam().scalars) {
    const Shape shape = GetParam().type == "PReLU" ? Shape{1} : Shape{};
    inputs.push_back(builder.floats("scalar" + std::to_string(inputs.size()), shape, {value}));
  }
  builder.result(builder.op(GetParam().type, "act", inputs, GetParam().raw, GetParam().opset), "out");
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, GetParam().type), 0U);
  EXPECT_EQ(graph.at(graph.find("conv")).epilogue.activation, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ActivationTest,
    ::testing::Values(ActivationCase{"ReLU", {}, {}, 1, Activation::kRelu},
                      ActivationCase{"Clamp", {{"min", "-0.25"}, {"max", "0.5"}}, {}, 1, Activation::kClamp},
                      ActivationCase{"Swish", {}, {}, 4, Activation::kSwish},
                      ActivationCase{"Swish", {}, {1.7F}, 4, Activation::kSwish},
                      ActivationCase{"HSwish", {}, {}, 4, Activation::kHSwish},
                      ActivationCase{"Sigmoid", {}, {}, 1, Activation::kSigmoid},
                      ActivationCase{"HSigmoid", {}, {}, 5, Activation::kHSigmoid},
                      ActivationCase{"Tanh", {}, {}, 1, Activation::kTanh},
                      ActivationCase{"Elu", {{"alpha", "0.7"}}, {}, 1, Activation::kElu},
                      ActivationCase{"Gelu", {}, {}, 2, Activation::kGeluErf},
                      ActivationCase{"Gelu", {{"approximation_mode", "TANH"}}, {}, 7, Activation::kGeluTanh},
                      ActivationCase{"Mish", {}, {}, 4, Activation::kMish},
                      ActivationCase{"SoftPlus", {}, {}, 4, Activation::kSoftPlus},
                      ActivationCase{"PReLU", {}, {0.1F}, 1, Activation::kLeakyRelu},
                      ActivationCase{"HardSigmoid", {}, {0.3F, 0.4F}, 1, Activation::kHardSigmoid}),
    [](const auto& test) { return std::string(to_string(test.param.expected)) + std::to_string(test.index); });

TEST(FuseActivationTest, SlopePerChannelStays) {
  GraphBuilder builder;
  const PortRef t = conv(builder, "conv", builder.parameter("x", "1,2,4,4"), 2, 2);
  builder.result(builder.op("PReLU", "act", {t, builder.floats("slope", {2}, {.1F, .9F})}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(count_type(graph, "PReLU"), 1U);
}

TEST(FuseActivationTest, SecondActivationStays) {
  GraphBuilder builder;
  const PortRef t = conv(builder, "conv", builder.parameter("x", "1,2,4,4"), 2, 2);
  builder.result(builder.op("Tanh", "second", {builder.op("ReLU", "first", {t})}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all);
  EXPECT_EQ(graph.at(graph.find("conv")).epilogue.activation, Activation::kRelu);
  EXPECT_EQ(count_type(graph, "Tanh"), 1U);
}

}  // namespace
}  // namespace headrace::testing
