// SPDX-License-Identifier: Apache-2.0
#include "passes/cut_at_layer.hpp"

#include <gmock/gmock.h>

#include "unit/passes/test_graph.hpp"

namespace headrace {
namespace {

using headrace::testing::GraphBuilder;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> layers_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    if (node.type != "Parameter" && node.type != "Const" && node.type != "Result") names.push_back(node.name);
  }
  return names;
}

// Outputs: the columns of relu(x) where it is not zero, times two; relu(x) itself; x itself.
struct Columns {
  GraphBuilder builder;
  PortRef x, relu, places, scale;

  Columns() {
    x = builder.parameter("x", "6");
    relu = builder.op("ReLU", "relu", {x});
    places = builder.op("NonZero", "places", {relu}, {{"output_type", "i64"}}, 3);
    const PortRef flat =
        builder.op("Reshape", "flat", {places, builder.ints("minus_one", {-1})}, {{"special_zero", "false"}});
    const PortRef picked =
        builder.op("Gather", "picked", {relu, flat, builder.ints("axis", {0})}, {{"batch_dims", "0"}}, 8);
    scale = builder.op("Convert", "scale", {builder.ints("two", {2})}, {{"destination_type", "f32"}});
    builder.result(builder.op("Multiply", "twice", {picked, scale}));
    builder.result(relu);
    builder.result(x);
  }
};

TEST(CutAtLayerTest, HeadHoldsWhatDoesNotDependOnTheLayer) {
  const Columns net;
  const LayerCut cut = cut_at_layer(net.builder.graph, net.places.node);
  verify(cut.head, "cut");
  verify(cut.tail, "cut");
  EXPECT_EQ(cut.layer.name, "places");
  EXPECT_THAT(layers_of(cut.head), ElementsAre("relu"));
  // What is computed from constants alone goes along, so that it can be folded there.
  EXPECT_THAT(layers_of(cut.tail), UnorderedElementsAre("flat", "picked", "scale", "twice"));
}

TEST(CutAtLayerTest, TensorsThatCrossAreNamedOnce) {
  const Columns net;
  const LayerCut cut = cut_at_layer(net.builder.graph, net.places.node);
  EXPECT_EQ(cut.head.parameters().size(), 1U);
  EXPECT_THAT(cut.layer_inputs, ElementsAre(0U));
  ASSERT_EQ(cut.head.results().size(), 2U);  // relu (for the layer, the tail and an output) and x
  ASSERT_EQ(cut.tail_inputs.size(), 2U);
  EXPECT_EQ(cut.tail_inputs.size(), cut.tail.parameters().size());
  EXPECT_TRUE(cut.tail_inputs[0].is_of_layer);
  EXPECT_FALSE(cut.tail_inputs[1].is_of_layer);
  EXPECT_EQ(cut.tail_inputs[1].output, 0U);
  for (const NodeId id : cut.tail.parameters()) EXPECT_FALSE(cut.tail.at(id).declared_shape.is_rank_known);
}

TEST(CutAtLayerTest, OutputsKeepTheirOrder) {
  const Columns net;
  const LayerCut cut = cut_at_layer(net.builder.graph, net.places.node);
  ASSERT_EQ(cut.outputs.size(), 3U);
  EXPECT_TRUE(cut.outputs[0].is_in_tail);
  EXPECT_EQ(cut.outputs[0].result, 0U);
  EXPECT_FALSE(cut.outputs[1].is_in_tail);
  EXPECT_EQ(cut.outputs[1].result, 0U);
  EXPECT_FALSE(cut.outputs[2].is_in_tail);
  EXPECT_EQ(cut.outputs[2].result, 1U);
}

TEST(CutAtLayerTest, TheLayerMayBeTheLast) {
  GraphBuilder builder;
  const PortRef places = builder.op("NonZero", "places", {builder.parameter("x", "6")}, {{"output_type", "i64"}}, 3);
  builder.result(places);
  builder.result(places);
  const LayerCut cut = cut_at_layer(builder.graph, places.node);
  verify(cut.tail, "cut");
  EXPECT_THAT(layers_of(cut.tail), ElementsAre());
  EXPECT_EQ(cut.tail.parameters().size(), 1U);
  EXPECT_EQ(cut.tail.results().size(), 2U);
}

}  // namespace
}  // namespace headrace
