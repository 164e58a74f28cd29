// SPDX-License-Identifier: Apache-2.0
// Quantized networks as NNCF and OpenVINO write them: what becomes a computation in bytes, what stays, equal numbers.
#include <gtest/gtest.h>

#include "passes/byte_grid.hpp"
#include "passes/fold_constants.hpp"
#include "passes/fuse_activation.hpp"
#include "passes/fuse_fake_quantize.hpp"
#include "passes/pipeline.hpp"
#include "passes/quantize_to_int8.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

const RawAttributes kWindow = {{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};

void fold_and_quantize(Graph& graph) {
  fold_constants(graph);
  quantize_to_int8(graph);
}

PortRef fake_quantize(GraphBuilder& builder, const std::string& name, PortRef x, float low, float high,
                      const std::string& levels = "256") {
  const PortRef from = builder.floats(name + "/low", {}, {low});
  const PortRef to = builder.floats(name + "/high", {1}, {high});
  return builder.op("FakeQuantize", name, {x, from, to, from, to}, {{"levels", levels}});
}

Tensor random_bytes(ElementType type, const Shape& shape, unsigned seed, double low, double high) {
  Tensor values = GraphBuilder::random_tensor(shape, seed);
  for (float& value : values.mutable_values<float>()) {
    value = static_cast<float>(std::nearbyint(low + (high - low) * (static_cast<double>(value) + 1) / 2));
  }
  return convert(values, type);
}

// i8 -> Convert -> Multiply by a scale per output channel.
PortRef i8_weights(GraphBuilder& builder, const std::string& name, const Shape& shape) {
  const PortRef bytes = builder.constant(name + "/i8", random_bytes(ElementType::i8, shape, 5, -127, 127));
  const PortRef wide = builder.op("Convert", name + "/f32", {bytes}, {{"destination_type", "f32"}});
  Shape channels(shape.size(), 1);
  channels[0] = shape[0];
  return builder.op("Multiply", name, {wide, builder.random(name + "/scale", channels, 6)});
}

PortRef quantized_conv(GraphBuilder& builder, const std::string& name, PortRef x, const Shape& weights) {
  return builder.op("Convolution", name, {x, i8_weights(builder, name + "/w", weights)}, kWindow);
}

void expect_quantized(const GraphBuilder& builder, std::size_t levels, std::size_t operators) {
  const Graph graph = expect_same_meaning(builder.graph, fold_and_quantize);
  EXPECT_EQ(count_type(graph, "QuantizeLevels"), levels) << dump(graph);
  EXPECT_EQ(count_type(graph, "QuantizedConvolution") + count_type(graph, "QuantizedMatMul"), operators);
}

TEST(QuantizeToInt8Test, ConvolutionOnUnsignedSignedAndShiftedGrids) {
  const std::pair<float, float> ranges[] = {{0.0F, 0.8F}, {-0.5F, 0.49609375F}, {-0.25F, 0.6F}, {-1.0F, 0.0F}};
  for (const auto& [low, high] : ranges) {
    GraphBuilder builder;
    const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "2,5,4,7"), low, high);
    builder.result(quantized_conv(builder, "conv", x, {6, 5, 3, 3}), "out");
    expect_quantized(builder, 1, 1);
  }
}

TEST(QuantizeToInt8Test, LevelsKeepTheLayersName) {
  GraphBuilder builder;
  const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,5,4,7"), 0.0F, 1.0F);
  builder.result(quantized_conv(builder, "conv", x, {6, 5, 3, 3}), "out");
  const Graph graph = expect_same_meaning(builder.graph, fold_and_quantize);
  EXPECT_EQ(graph.at(graph.find("fq")).type, "QuantizeLevels");
  EXPECT_EQ(graph.at(graph.find("conv")).type, "QuantizedConvolution");
  EXPECT_EQ(graph.nodes().size(), 6U) << dump(graph);  // x, levels, weights, scale, convolution, result
}

TEST(QuantizeToInt8Test, UnsignedWeightsWithZeroPoint) {
  for (const float zero_point : {127.0F, 128.0F}) {
    GraphBuilder builder;
    const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,3,5,5"), 0.0F, 1.0F);
    const PortRef bytes = builder.constant("u8", random_bytes(ElementType::u8, {4, 3, 3, 3}, 7, 0, 254));
    const PortRef wide = builder.op("Convert", "f32", {bytes}, {{"destination_type", "f32"}});
    const PortRef centred = builder.op("Subtract", "centred", {wide, builder.floats("zp", {}, {zero_point})});
    const PortRef weights = builder.op("Multiply", "w", {centred, builder.random("scale", {4, 1, 1, 1}, 8)});
    builder.result(builder.op("Convolution", "conv", {x, weights}, kWindow), "out");
    expect_quantized(builder, 1, 1);
  }
}

TEST(QuantizeToInt8Test, FakeQuantizeOnWeights) {
  const std::pair<std::string, float> forms[] = {{"255", 1.0F}, {"256", 127.0F / 128.0F}};
  for (const auto& [levels, top] : forms) {
    GraphBuilder builder;
    const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,3,5,5"), 0.0F, 1.0F);
    const std::vector<float> highs = {0.3F, 0.71F, 0.0123F, 1.0F};
    std::vector<float> lows;
    std::vector<float> tops;
    for (const float high : highs) {
      lows.push_back(-high);
      tops.push_back(high * top);
    }
    const PortRef low = builder.floats("low", {4, 1, 1, 1}, lows);
    const PortRef high = builder.floats("high", {4, 1, 1, 1}, tops);
    const PortRef weights = builder.op(
        "FakeQuantize", "fqw", {builder.random("w", {4, 3, 3, 3}, 9), low, high, low, high}, {{"levels", levels}});
    builder.result(builder.op("Convolution", "conv", {x, weights}, kWindow), "out");
    expect_quantized(builder, 1, 1);
  }
}

// x [1,4,6,6] -> 3x3 convolution -> activation, where one is named -> FakeQuantize of [low, 0.9] -> depthwise.
Graph before_depthwise(const std::string& activation, float low, const std::string& levels = "256") {
  GraphBuilder builder;
  PortRef t = builder.op("Convolution", "c", {builder.parameter("x", "1,4,6,6"), builder.random("w", {4, 4, 3, 3}, 4)},
                         kWindow);
  if (!activation.empty()) t = builder.op(activation, "act", {t});
  t = fake_quantize(builder, "fq", t, low, 0.9F, levels);
  builder.result(builder.op("GroupConvolution", "d", {t, builder.random("dw", {4, 1, 1, 3, 3}, 5)}, kWindow));
  return builder.graph;
}

void fuse_all_quantize(Graph& graph) {
  fuse_activation(graph);
  fuse_fake_quantize(graph);
}

TEST(FuseFakeQuantizeTest, BecomesTheActivationOfTheLayerBefore) {
  for (const auto& [activation, low] : {std::pair("", -0.3F), std::pair("", 0.0F), std::pair("ReLU", 0.0F)}) {
    const Graph graph = expect_same_meaning(before_depthwise(activation, low), fuse_all_quantize);
    EXPECT_EQ(count_type(graph, "FakeQuantize"), 0U) << activation;
    const Epilogue& epilogue = graph.at(graph.find("c")).epilogue;
    EXPECT_EQ(epilogue.activation, Activation::kFakeQuantize);
    EXPECT_EQ(epilogue.alpha, low);
    EXPECT_EQ(epilogue.beta, 0.9F);
  }
}

TEST(FuseFakeQuantizeTest, StaysWhereItWouldMeanSomethingElse) {
  for (const Graph& before :
       {before_depthwise("ReLU", -0.3F), before_depthwise("Sigmoid", 0.0F), before_depthwise("", 0.0F, "16")}) {
    const Graph graph = expect_same_meaning(before, fuse_all_quantize);
    EXPECT_EQ(count_type(graph, "FakeQuantize"), 1U) << dump(graph);
  }
}

TEST(FuseFakeQuantizeTest, StaysWhereOthersReadTheTensorItself) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,6");
  const PortRef t = builder.op("Convolution", "c", {x, builder.random("w", {4, 4, 3, 3}, 4)}, kWindow);
  builder.result(fake_quantize(builder, "fq", t, 0.0F, 0.9F));
  builder.result(t);
  const Graph graph = expect_same_meaning(builder.graph, fuse_all_quantize);
  EXPECT_EQ(count_type(graph, "FakeQuantize"), 1U);
}

TEST(FuseFakeQuantizeTest, StaysWithARangePerChannel) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,6,6");
  const PortRef t = builder.op("Convolution", "c", {x, builder.random("w", {2, 2, 3, 3}, 4)}, kWindow);
  const PortRef low = builder.floats("low", {1, 2, 1, 1}, {0, -1});
  const PortRef high = builder.floats("high", {1, 2, 1, 1}, {1, 1});
  builder.result(builder.op("FakeQuantize", "fq", {t, low, high, low, high}, {{"levels", "256"}}));
  const Graph graph = expect_same_meaning(builder.graph, fuse_all_quantize);
  EXPECT_EQ(count_type(graph, "FakeQuantize"), 1U);
}

TEST(QuantizeToInt8Test, ReadersShareLevelsAndOthersKeepTheFakeQuantize) {
  GraphBuilder builder;
  const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,4,5,5"), -0.25F, 0.6F);
  const PortRef a = quantized_conv(builder, "a", x, {4, 4, 3, 3});
  const PortRef b = quantized_conv(builder, "b", x, {4, 4, 3, 3});
  const PortRef sum = builder.op("Add", "sum", {a, x});
  builder.result(sum, "one");
  builder.result(b, "two");
  const Graph graph = expect_same_meaning(builder.graph, fold_and_quantize);
  EXPECT_EQ(count_type(graph, "QuantizeLevels"), 1U);
  EXPECT_EQ(count_type(graph, "QuantizedConvolution"), 2U);
  EXPECT_EQ(graph.at(graph.find("fq")).type, "FakeQuantize");
}

TEST(QuantizeToInt8Test, OperatorsThatChooseElementsAreSeenThrough) {
  GraphBuilder builder;
  const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,4,6,6"), 0.0F, 0.9F);
  const PortRef pooled = builder.op(
      "MaxPool", "pool", {x}, {{"kernel", "3,3"}, {"strides", "2,2"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  builder.result(quantized_conv(builder, "conv", pooled, {3, 4, 3, 3}), "one");
  const PortRef flat =
      builder.op("Reshape", "flat", {pooled, builder.ints("shape", {1, 36})}, {{"special_zero", "false"}});
  builder.result(builder.op("MatMul", "fc", {flat, i8_weights(builder, "fc/w", {5, 36})}, {{"transpose_b", "true"}}),
                 "two");
  expect_quantized(builder, 2, 2);
}

TEST(QuantizeToInt8Test, MatrixProducts) {
  for (const bool is_transposed : {false, true}) {
    for (const std::string shape : {"3,8", "2,3,8", "8"}) {
      GraphBuilder builder;
      const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", shape), -0.25F, 0.6F);
      const PortRef rows = i8_weights(builder, "w", {5, 8});
      const PortRef weights =
          is_transposed ? rows : builder.op("Transpose", "t", {rows, builder.ints("order", {1, 0})});
      builder.result(builder.op("MatMul", "fc", {x, weights}, {{"transpose_b", is_transposed ? "true" : "false"}}),
                     "out");
      expect_quantized(builder, 1, 1);
    }
  }
}

TEST(QuantizeToInt8Test, PipelineTakesOverBiasResidualAndActivation) {
  GraphBuilder builder;
  const PortRef x = fake_quantize(builder, "fq", builder.parameter("x", "1,4,5,5"), -0.25F, 0.6F);
  const PortRef other = builder.parameter("other", "1,4,5,5");
  PortRef t = quantized_conv(builder, "conv", x, {4, 4, 3, 3});
  t = builder.op("Multiply", "norm", {t, builder.random("factor", {1, 4, 1, 1}, 11)});
  t = builder.op("Add", "bias", {t, builder.random("b", {1, 4, 1, 1}, 12)});
  t = builder.op("Add", "residual", {t, other});
  builder.result(builder.op("ReLU", "relu", {t}), "out");
  const Graph graph =
      expect_same_meaning(builder.graph, [](Graph& g) { run_passes(g, {.has_int8 = true, .dump = {}}); });
  EXPECT_EQ(count_type(graph, "QuantizedConvolution"), 1U);
  EXPECT_EQ(graph.nodes().size(), 8U) << dump(graph);  // two inputs, levels, weights, scale, bias, convolution, result
  const Graph plain = expect_same_meaning(builder.graph, [](Graph& g) { run_passes(g); });
  EXPECT_EQ(count_type(plain, "FakeQuantize"), 1U) << "without int8 the network stays as it is";
}

TEST(QuantizeToInt8Test, WhatDoesNotFitStays) {
  const auto check = [](const char* what, const auto& build) {
    SCOPED_TRACE(what);
    GraphBuilder builder;
    builder.result(build(builder, builder.parameter("x", "1,4,5,5")), "out");
    expect_quantized(builder, 0, 0);
  };
  const Shape weights = {3, 4, 3, 3};
  check("no quantized data", [&](GraphBuilder& b, PortRef x) { return quantized_conv(b, "c", x, weights); });
  check("more than 256 levels", [&](GraphBuilder& b, PortRef x) {
    return quantized_conv(b, "c", fake_quantize(b, "fq", x, 0.0F, 1.0F, "1024"), weights);
  });
  check("no level is zero", [&](GraphBuilder& b, PortRef x) {
    return quantized_conv(b, "c", fake_quantize(b, "fq", x, -0.5F, 0.5F), weights);
  });
  check("zero is outside", [&](GraphBuilder& b, PortRef x) {
    return quantized_conv(b, "c", fake_quantize(b, "fq", x, 0.25F, 0.5F), weights);
  });
  check("a range per channel", [&](GraphBuilder& b, PortRef x) {
    const PortRef low = b.floats("low", {}, {0});
    const PortRef high = b.floats("high", {1, 4, 1, 1}, {1, 2, 3, 4});
    return quantized_conv(b, "c", b.op("FakeQuantize", "fq", {x, low, high, low, high}, {{"levels", "256"}}), weights);
  });
  check("weights on no grid", [&](GraphBuilder& b, PortRef x) {
    return b.op("Convolution", "c", {fake_quantize(b, "fq", x, 0.0F, 1.0F), b.random("w", weights, 4)}, kWindow);
  });
  check("groups", [&](GraphBuilder& b, PortRef x) {
    const PortRef w = i8_weights(b, "w", {4, 1, 1, 3, 3});
    return b.op("GroupConvolution", "c", {fake_quantize(b, "fq", x, 0.0F, 1.0F), w}, kWindow);
  });
}

TEST(ByteGridTest, FindsTheCoarsestGridOfEachChannel) {
  const Tensor weights = make_f32_tensor({3, 3}, std::vector<float>{-128, 127, 1, 0.2F, -0.6F, 0.4F, 0, 0, 0});
  const auto found = find_byte_weights(weights, {3, 3, 3, 1});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(to_int64s(found->values), (std::vector<std::int64_t>{-128, 127, 1, 1, -3, 2, 0, 0, 0}));
  EXPECT_EQ(found->scales[0], 1.0);
  EXPECT_NEAR(found->scales[1], 0.2, 1e-7);
}

TEST(ByteGridTest, RefusesLargerLevelsAndWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float value : {128.0F, -129.0F, 0.5F, 1.001F, inf, std::numeric_limits<float>::quiet_NaN()}) {
    const Tensor weights = make_f32_tensor({1, 3}, std::vector<float>{-127, 2, value});
    EXPECT_EQ(find_byte_weights(weights, {1, 3, 3, 1}).has_value(), false) << value;
  }
}

}  // namespace
}  // namespace headrace::testing
