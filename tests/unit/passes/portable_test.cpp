// SPDX-License-Identifier: Apache-2.0
// The passes for networks that are written to files, and what reports tell of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "passes/explain_kept.hpp"
#include "passes/graph_changes.hpp"
#include "passes/graph_totals.hpp"
#include "passes/portable_pipeline.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

const RawAttributes kWindow = {{"strides", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"dilations", "1,1"}};

PortRef conv(GraphBuilder& builder, const std::string& name, PortRef x, std::int64_t channels, unsigned seed = 3) {
  return builder.op("Convolution", name, {x, builder.random(name + "/w", {channels, channels, 3, 3}, seed)}, kWindow);
}

PortRef batch_norm(GraphBuilder& builder, const std::string& name, PortRef x, std::int64_t channels) {
  return builder.op("BatchNormInference", name,
                    {x, builder.random("gamma", {channels}, 4), builder.random("beta", {channels}, 5),
                     builder.random("mean", {channels}, 6), builder.floats("variance", {channels}, {1, 2, 3, 4})},
                    {{"epsilon", "0.001"}}, 5);
}

void run_portable(Graph& graph) { run_portable_passes(graph); }

TEST(PortableTest, FoldsBatchNormIntoTheConvolutionWithoutEpilogues) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,5");
  PortRef t = batch_norm(builder, "norm", conv(builder, "conv", x, 4), 4);
  t = builder.op("ReLU", "relu", {t});
  builder.result(t, "y");
  const Graph graph = expect_same_meaning(builder.graph, run_portable);
  EXPECT_EQ(count_type(graph, "BatchNormInference"), 0U);
  EXPECT_EQ(count_type(graph, "Multiply"), 0U);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
  EXPECT_TRUE(graph.find("norm").is_valid());
  for (const NodeId id : graph.nodes()) EXPECT_TRUE(graph.at(id).epilogue.is_empty());
  EXPECT_TRUE(explain_kept(graph).empty());
}

TEST(PortableTest, FoldsAScaleOfTheInputIntoTheFirstConvolution) {
  GraphBuilder builder;
  PortRef t = builder.parameter("x", "1,4,6,5");
  t = builder.op("Subtract", "mean", {t, builder.random("m", {1, 4, 1, 1}, 7)});
  t = builder.op("Divide", "scale", {t, builder.floats("s", {1, 4, 1, 1}, {2, 3, 4, 5})});
  builder.result(conv(builder, "conv", t, 4), "y");
  const Graph graph = expect_same_meaning(builder.graph, run_portable);
  EXPECT_EQ(count_graph(graph).layers, 2);
}

TEST(PortableTest, KeepsWeightsInBytes) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,5");
  Tensor bytes(ElementType::i8, {4, 4, 3, 3});
  for (std::int8_t& value : bytes.mutable_values<std::int8_t>()) value = 3;
  PortRef w = builder.op("Convert", "w/f32", {builder.constant("w", bytes)}, {{"destination_type", "f32"}});
  w = builder.op("Subtract", "w/zero", {w, builder.floats("zero", {4, 1, 1, 1}, {1, 2, 3, 4})});
  w = builder.op("Multiply", "w/scale", {w, builder.floats("step", {4, 1, 1, 1}, {.1F, .2F, .3F, .4F})});
  PortRef t = builder.op("Convolution", "conv", {x, w}, kWindow);
  t = builder.op("Multiply", "times", {t, builder.random("t", {1, 4, 1, 1}, 3)});
  builder.result(t, "y");
  const Graph graph = expect_same_meaning(builder.graph, run_portable);
  EXPECT_EQ(count_type(graph, "Convert"), 1U);
  EXPECT_EQ(count_type(graph, "Subtract"), 1U);  // readers look for just this form
  EXPECT_EQ(count_type(graph, "Multiply"), 2U);
  const auto kept = explain_kept(graph);
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept[0].layer, "w/f32");
}

TEST(PortableTest, OpenShapesLeaveTheLayersButFoldConstants) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "?,4,6,5");
  const PortRef two = builder.op("Add", "two", {builder.floats("one", {}, {1}), builder.floats("other", {}, {1})});
  const PortRef shape = builder.op("ShapeOf", "shape", {x}, {{"output_type", "i64"}}, 3);
  const PortRef product = builder.op("Multiply", "product", {x, two});
  builder.result(builder.op("Reshape", "same", {product, shape}, {{"special_zero", "false"}}), "y");
  Graph graph = builder.graph;
  std::vector<std::string> skipped;
  run_portable_passes(graph, {{}, [&](const PortablePass& pass, const Graph&, std::string_view reason) {
                                if (!reason.empty()) skipped.emplace_back(pass.name);
                              }});
  EXPECT_FALSE(graph.find("two").is_valid() && graph.at(graph.find("two")).type != "Const");
  EXPECT_EQ(count_type(graph, "ShapeOf"), 1U);
  EXPECT_NE(std::find(skipped.begin(), skipped.end(), "fuse_scale"), skipped.end());
  EXPECT_FALSE(count_graph(graph).is_complete);
  graph.at(graph.parameters()[0]).declared_shape = parse_partial_shape("2,4,6,5");
  infer_shapes(graph);
  const Tensor input = GraphBuilder::random_tensor({2, 4, 6, 5}, 9);
  std::vector<double> expected = to_doubles(input);
  for (double& value : expected) value *= 2;
  EXPECT_EQ(to_doubles(run_graph(graph, {input}).at(0)), expected);
}

TEST(GraphChangesTest, TellsWhatBecameOfEachLayer) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,5");
  const PortRef folded = builder.op("Add", "sum", {builder.floats("a", {}, {1}), builder.floats("b", {}, {2})});
  PortRef t = builder.op("Multiply", "times", {conv(builder, "conv", x, 4), folded});
  t = builder.op("Reshape", "same", {t, builder.ints("shape", {1, 4, 6, 5})}, {{"special_zero", "false"}});
  builder.result(builder.op("ReLU", "relu", {t}), "y");
  Graph graph = builder.graph;
  infer_shapes(graph);
  const LayerSnapshot before(graph);
  run_portable_passes(graph);
  const auto changes = before.changes_to(graph);
  const auto kind_of = [&](const std::string& layer) {
    for (const LayerChange& change : changes) {
      if (change.layer == layer) return change.kind + "/" + change.into;
    }
    return std::string("stayed");
  };
  EXPECT_EQ(kind_of("sum"), "removed/");  // its constant went on into the weights
  EXPECT_EQ(kind_of("times"), "fused/conv");
  EXPECT_EQ(kind_of("same"), "removed/");
  EXPECT_EQ(kind_of("relu"), "stayed");
  EXPECT_EQ(kind_of("conv"), "stayed");
}

TEST(ExplainKeptTest, NamesTheReason) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,5");
  const PortRef a = conv(builder, "a", x, 4);
  builder.result(builder.op("ReLU", "other", {a}), "o");
  builder.result(builder.op("Multiply", "read twice", {a, builder.random("s", {1, 4, 1, 1}, 1)}), "p");
  const PortRef b = conv(builder, "b", x, 4, 8);
  builder.result(b, "out");
  builder.result(builder.op("Multiply", "of output", {b, builder.random("s2", {1, 4, 1, 1}, 1)}), "q");
  builder.result(
      builder.op("Multiply", "per pixel", {conv(builder, "c", x, 4, 9), builder.random("s3", {1, 1, 6, 5}, 1)}), "r");
  builder.result(
      builder.op("Reshape", "renamed", {b, builder.ints("shape", {1, 4, 6, 5})}, {{"special_zero", "false"}}), "t");
  Graph graph = builder.graph;
  run_portable_passes(graph);
  std::map<std::string, std::string> reasons;
  for (const KeptLayer& kept : explain_kept(graph)) reasons[kept.layer] = kept.reason;
  EXPECT_EQ(reasons.size(), 4U);
  EXPECT_NE(reasons["read twice"].find("another layer"), std::string::npos);
  EXPECT_NE(reasons["of output"].find("output of the network"), std::string::npos);
  EXPECT_NE(reasons["per pixel"].find("one number for each channel"), std::string::npos);
  EXPECT_NE(reasons["renamed"].find("its name"), std::string::npos);
}

TEST(GraphTotalsTest, CountsWhatALayerCosts) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4,6,5");
  builder.result(conv(builder, "conv", x, 4), "y");
  Graph graph = builder.graph;
  infer_shapes(graph);
  const GraphTotals totals = count_graph(graph);
  EXPECT_EQ(totals.layers, 1);
  EXPECT_EQ(totals.parameters, 4 * 4 * 9);
  EXPECT_EQ(totals.constant_bytes, 4 * 4 * 9 * 4);
  EXPECT_EQ(totals.flops, 2 * 4 * 4 * 9 * 30);
  EXPECT_TRUE(totals.is_complete);
  EXPECT_EQ(totals.layers_by_type.at("Convolution"), 1);
}

}  // namespace
}  // namespace headrace::testing
