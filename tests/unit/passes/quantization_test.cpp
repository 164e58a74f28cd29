// SPDX-License-Identifier: Apache-2.0
// What makes a quantized network of one in floats: which layers, where FakeQuantize and bytes go, bias correction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/compare_quantized.hpp"
#include "passes/correct_bias.hpp"
#include "passes/fold_constants.hpp"
#include "passes/insert_fake_quantize.hpp"
#include "passes/quantize_to_int8.hpp"
#include "passes/quantize_weights.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;

const RawAttributes kWindow = {{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};

PortRef convolution(GraphBuilder& builder, const std::string& name, PortRef x, const Shape& weights) {
  const std::string type = weights.size() == 5 ? "GroupConvolution" : "Convolution";
  return builder.op(type, name, {x, builder.random(name + "/w", weights, 3)}, kWindow);
}

// Random data lie in [-1, 1].
ByteRanges ranges_for(const std::vector<QuantizableLayer>& layers, double low = -1.0, double high = 1.0) {
  ByteRanges ranges;
  for (const QuantizableLayer& layer : layers) ranges[layer.data] = byte_range_for(low, high, false);
  return ranges;
}

void quantize_all(Graph& graph) {
  const auto layers = find_quantizable(graph).layers;
  insert_fake_quantize(graph, layers, ranges_for(layers));
}

TEST(ByteRangeTest, HoldsZeroAsALevel) {
  const ByteRange positive = byte_range_for(0.5, 3.0, false);
  EXPECT_EQ(positive, (ByteRange{0.0F, 3.0F}));
  EXPECT_EQ(byte_range_for(0.0, 3.0, true), positive);
  for (const auto& [low, high] : {std::pair(-1.0, 2.0), std::pair(-0.003, 5.0), std::pair(-7.0, -1.0)}) {
    const ByteRange range = byte_range_for(low, high, false);
    const double scale = (static_cast<double>(range.high) - static_cast<double>(range.low)) / 255;
    const double zero = -static_cast<double>(range.low) / scale;
    EXPECT_NEAR(zero, std::nearbyint(zero), 1e-4);
    EXPECT_LE(static_cast<double>(range.low), low + scale);
    EXPECT_GE(static_cast<double>(range.high), std::max(high, 0.0) - scale);
  }
  const ByteRange symmetric = byte_range_for(-1.0, 2.0, true);
  EXPECT_FLOAT_EQ(symmetric.high, 2.0F);
  EXPECT_FLOAT_EQ(symmetric.low, -2.0F * 128 / 127);
  EXPECT_GT(byte_range_for(0.0, 0.0, false).high, 0.0F) << "a tensor of zeros has a range all the same";
}

TEST(QuantizeSymmetricTest, HasAScalePerOutputChannel) {
  const Tensor weights = make_f32_tensor({3, 2}, std::vector<float>{1.27F, -0.02F, 0, 0, -254, 2});
  const SymmetricWeights rows = quantize_symmetric(weights, {0});
  EXPECT_EQ(rows.scales.shape(), (Shape{3, 1}));
  EXPECT_THAT(to_int64s(rows.values), ElementsAre(127, -2, 0, 0, -127, 1));
  EXPECT_NEAR(to_doubles(rows.scales)[0], 0.01, 1e-8);
  const SymmetricWeights columns = quantize_symmetric(weights, {1});
  EXPECT_EQ(columns.scales.shape(), (Shape{1, 2}));
  EXPECT_THAT(to_int64s(columns.values), ElementsAre(1, -1, 0, 0, -127, 127));
}

TEST(InsertFakeQuantizeTest, ReadersShareOneAndOthersReadTheTensorItself) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,6");
  const PortRef a = convolution(builder, "a", x, {4, 4, 3, 3});
  const PortRef b = convolution(builder, "b", x, {4, 1, 1, 3, 3});
  builder.result(builder.op("Add", "sum", {a, x}), "one");
  builder.result(b, "two");
  const Graph graph = expect_same_meaning(builder.graph, quantize_all, 3e-2);
  EXPECT_EQ(count_type(graph, "FakeQuantize"), 1U) << dump(graph);
  EXPECT_EQ(count_type(graph, "Convert"), 2U);
  EXPECT_EQ(graph.at(graph.find("sum")).inputs[1], (PortRef{graph.find("x"), 0}));
}

TEST(InsertFakeQuantizeTest, WhatItMakesIsComputedInBytes) {
  for (const std::string transposed : {"true", "false"}) {
    GraphBuilder builder;
    const PortRef x = builder.parameter("x", "2,3,4,4");
    const PortRef t = convolution(builder, "conv", x, {5, 3, 3, 3});
    const PortRef rows =
        builder.op("Reshape", "flat", {t, builder.ints("shape", {2, 80})}, {{"special_zero", "false"}});
    const Shape matrix = transposed == "true" ? Shape{6, 80} : Shape{80, 6};
    builder.result(builder.op("MatMul", "fc", {rows, builder.random("m", matrix, 9)}, {{"transpose_b", transposed}}),
                   "out");
    const auto quantize = [](Graph& graph) {
      const auto layers = find_quantizable(graph).layers;
      insert_fake_quantize(graph, layers, ranges_for(layers, -8.0, 8.0));
    };
    Graph graph = expect_same_meaning(builder.graph, quantize, 5e-2);
    fold_constants(graph);
    quantize_to_int8(graph);
    EXPECT_EQ(count_type(graph, "QuantizedConvolution"), 1U);
    EXPECT_EQ(count_type(graph, "QuantizedMatMul"), 1U) << dump(graph);
  }
}

TEST(InsertFakeQuantizeTest, OpenShapesStayOpen) {
  GraphBuilder builder;
  builder.result(convolution(builder, "conv", builder.parameter("x", "?,3,4,4"), {5, 3, 3, 3}), "out");
  Graph graph = builder.graph;
  EXPECT_FALSE(infer_known_shapes(graph));
  quantize_all(graph);
  EXPECT_FALSE(infer_known_shapes(graph));
  EXPECT_EQ(count_type(graph, "FakeQuantize"), 1U);
  infer_shapes(graph, {{"x", {2, 3, 4, 4}}});
  EXPECT_EQ(graph.info({graph.find("conv"), 0}).shape, (Shape{2, 5, 4, 4}));
}

TEST(FindQuantizableTest, TellsWhyALayerStays) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,4");
  const PortRef good = builder.op("MatMul", "good", {x, builder.random("w", {4, 4}, 1)});
  const PortRef both = builder.op("MatMul", "both", {good, x}, {{"transpose_b", "true"}});
  const PortRef vector = builder.op("MatMul", "vector", {x, builder.random("v", {4}, 1)});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const PortRef bad = builder.op("MatMul", "bad", {x, builder.floats("n", {4, 1}, {1, nan, 1, 1})});
  const PortRef shape = builder.op("ShapeOf", "shape", {x});
  const PortRef floats = builder.op("Convert", "floats", {shape}, {{"destination_type", "f32"}});
  const PortRef sizes = builder.op("MatMul", "sizes", {floats, builder.random("s", {2, 2}, 1)});
  for (const PortRef ref : {both, vector, bad, sizes}) builder.result(ref);
  infer_shapes(builder.graph);
  const QuantizableLayers found = find_quantizable(builder.graph);
  ASSERT_EQ(found.layers.size(), 1U);
  EXPECT_EQ(builder.graph.at(found.layers[0].node).name, "good");
  std::map<std::string, std::string> reasons;
  for (const KeptFloatLayer& kept : found.kept) reasons[builder.graph.at(kept.node).name] = kept.reason;
  EXPECT_EQ(reasons, (std::map<std::string, std::string>{{"both", "its weights are no f32 constant"},
                                                         {"vector", "its weights are no matrix"},
                                                         {"bad", "its weights are not all finite"},
                                                         {"sizes", "its data follow from shapes and constants"}}));
  EXPECT_EQ(find_quantizable(builder.graph, {{"good"}, {}}).layers.size(), 0U);
  EXPECT_EQ(find_quantizable(builder.graph, {{}, {"MatMul"}}).layers.size(), 0U);
  EXPECT_THROW(find_quantizable(builder.graph, {{"nowhere"}, {}}), Error);
  EXPECT_THROW(find_quantizable(builder.graph, {{}, {"Convolution"}}), Error);
}

TEST(CorrectBiasTest, ChangesTheConstantOfAnAddOrPutsOneThere) {
  for (const bool has_bias : {true, false}) {
    for (const Shape& weights : {Shape{4, 2, 3, 3}, Shape{2, 2, 1, 3, 3}, Shape{2, 4}}) {
      GraphBuilder builder;
      const bool is_matrix = weights.size() == 2;
      const PortRef x = builder.parameter("x", is_matrix ? "3,2" : "1,2,5,5");
      PortRef t = is_matrix ? builder.op("MatMul", "layer", {x, builder.random("m", weights, 2)})
                            : convolution(builder, "layer", x, weights);
      const Shape bias = is_matrix ? Shape{1, 4} : Shape{1, 4, 1, 1};
      if (has_bias) t = builder.op("Add", "biased", {builder.random("b", bias, 5), t});
      builder.result(t, "out");
      infer_shapes(builder.graph);
      name_outputs(builder.graph);
      Graph corrected = builder.graph;
      correct_bias(corrected, {{corrected.find("layer"), {1, 2, 3, 4}}});
      infer_shapes(corrected);
      EXPECT_EQ(count_type(corrected, "Add"), 1U) << dump(corrected);
      EXPECT_EQ(output_name(corrected, corrected.results()[0]), "out");
      const auto inputs = random_inputs(corrected);
      const Tensor before = run_graph(builder.graph, inputs)[0];
      const auto after = to_doubles(run_graph(corrected, inputs)[0]);
      const auto expected = to_doubles(before);
      for (std::size_t i = 0; i < after.size(); ++i) {
        const std::size_t channel = is_matrix ? i % 4 : i / 25 % 4;
        EXPECT_NEAR(after[i], expected[i] + static_cast<double>(channel + 1), 1e-5);
      }
    }
  }
}

TEST(CorrectBiasTest, LeavesAConstantThatOthersReadAsItIs) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,2,5,5");
  const PortRef bias = builder.random("b", {1, 4, 1, 1}, 5);
  const PortRef one = builder.op("Add", "one", {convolution(builder, "a", x, {4, 2, 3, 3}), bias});
  const PortRef two = builder.op("Add", "two", {convolution(builder, "c", x, {4, 2, 3, 3}), bias});
  builder.result(one, "1");
  builder.result(two, "2");
  infer_shapes(builder.graph);
  Graph corrected = builder.graph;
  correct_bias(corrected, {{corrected.find("a"), {1, 2, 3, 4}}});
  const auto inputs = random_inputs(corrected);
  expect_close(run_graph(corrected, inputs)[1], run_graph(builder.graph, inputs)[1]);
}

TEST(CompareQuantizedTest, MeasuresWhatTheBytesDo) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,4,5,5");
  const PortRef conv = convolution(builder, "conv", x, {3, 4, 3, 3});
  builder.result(conv, "out");
  infer_shapes(builder.graph);
  const auto layers = find_quantizable(builder.graph).layers;
  // Much too narrow a range: the error is large and has a direction.
  const auto ranges = ranges_for(layers, -0.1, 1.0);
  Graph twins = builder.graph;
  const auto comparisons = add_quantized_twins(twins, layers, ranges);
  infer_shapes(twins);
  ASSERT_EQ(comparisons.size(), 1U);
  Graph quantized = builder.graph;
  insert_fake_quantize(quantized, layers, ranges);
  infer_shapes(quantized);
  const auto inputs = random_inputs(twins);
  const auto results = run_graph(twins, inputs);
  const auto expected = to_doubles(run_graph(builder.graph, inputs)[0]);
  const auto actual = to_doubles(run_graph(quantized, inputs)[0]);
  std::vector<double> shifts(3);
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = expected[i] - actual[i];
    shifts[i / 25 % 3] += difference / 50;
    error += difference * difference / 150;
    power += expected[i] * expected[i] / 150;
  }
  const auto measured = to_doubles(results.at(comparisons[0].shift));
  for (std::size_t channel = 0; channel < 3; ++channel) EXPECT_NEAR(measured.at(channel), shifts[channel], 1e-5);
  EXPECT_NEAR(to_doubles(results.at(comparisons[0].error)).at(0), error, 1e-5);
  EXPECT_NEAR(to_doubles(results.at(comparisons[0].power)).at(0), power, 1e-5);
  EXPECT_GT(error, 1e-3);
}

}  // namespace
}  // namespace headrace::testing
