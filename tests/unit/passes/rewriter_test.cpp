// SPDX-License-Identifier: Apache-2.0
#include "passes/rewriter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "passes/pipeline.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;

// The Rewriter's lists against those that a fresh UserMap makes.
void expect_current(const Rewriter& rewriter) {
  const UserMap map(rewriter.graph());
  for (const NodeId id : rewriter.graph().nodes()) {
    for (std::size_t port = 0; port < rewriter.graph().at(id).outputs.size(); ++port) {
      const PortRef ref{id, static_cast<std::int32_t>(port)};
      EXPECT_EQ(rewriter.users(ref).size(), map.of(ref).size()) << rewriter.graph().at(id).name;
    }
  }
}

TEST(RewriterTest, NodesCanBeAddedBehindDeadOnes) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2");
  const PortRef a = builder.op("ReLU", "a", {x});
  builder.result(a, "out");
  builder.op("ReLU", "dead", {a});
  infer_shapes(builder.graph);
  EXPECT_EQ(builder.graph.remove_dead(), 1U);
  Rewriter rewriter(builder.graph);
  const PortRef c = rewriter.add_const("c", Tensor(ElementType::f32, {2}));
  rewriter.set_input(a.node, 0, c);
  EXPECT_EQ(rewriter.only_user(c)->node, a.node);
  EXPECT_FALSE(rewriter.is_removed(c.node));
  expect_current(rewriter);
}

TEST(RewriterTest, UsersStayCurrentThroughEdits) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2");
  const PortRef a = builder.op("ReLU", "a", {x});
  const PortRef b = builder.op("Add", "b", {a, a});
  builder.result(b, "out");
  infer_shapes(builder.graph);
  Rewriter rewriter(builder.graph);
  EXPECT_EQ(rewriter.only_user(a), std::nullopt);  // read twice by one node
  rewriter.set_input(b.node, 0, x);
  EXPECT_EQ(rewriter.only_user(a)->input, 1);
  const PortRef c = rewriter.add_const("c", Tensor(ElementType::f32, {2}));
  EXPECT_EQ(rewriter.append_input(b.node, c), 2);
  expect_current(rewriter);
  rewriter.truncate_inputs(b.node, 2);
  expect_current(rewriter);
  EXPECT_TRUE(rewriter.bypass(a, x));
  EXPECT_TRUE(rewriter.is_removed(a.node));
  expect_current(rewriter);
}

TEST(RewriterTest, TakeOverMovesNamesAndLayers) {
  GraphBuilder builder;
  const PortRef a = builder.op("Tanh", "a", {builder.parameter("x", "2")});
  const PortRef b = builder.op("ReLU", "b", {a});
  builder.graph.at(a.node).outputs[0].names = {"inner"};
  builder.graph.at(b.node).fused_names = {"older"};
  builder.result(b, "out");
  infer_shapes(builder.graph);
  Rewriter rewriter(builder.graph);
  rewriter.take_over(b, a);
  EXPECT_THAT(rewriter.graph().info(a).names, ElementsAre("out"));
  EXPECT_THAT(rewriter.graph().at(a).fused_names, ElementsAre("b", "older"));
  expect_current(rewriter);
}

TEST(RewriterTest, OutputIsNeverTakenOver) {
  GraphBuilder builder;
  const PortRef a = builder.op("Tanh", "a", {builder.parameter("x", "2")});
  const PortRef b = builder.op("ReLU", "b", {a});
  builder.result(a, "a");
  builder.result(b, "b");
  infer_shapes(builder.graph);
  Rewriter rewriter(builder.graph);
  EXPECT_THROW(rewriter.take_over(b, a), Error);
  EXPECT_FALSE(rewriter.bypass(b, a));
  expect_current(rewriter);
}

// Every edit costs its own edges; passes that walked the graph for each would need minutes here.
TEST(RewriterTest, PipelineOfTwentyThousandLayersTakesSeconds) {
  GraphBuilder builder;
  PortRef t = builder.parameter("x", "1,2,1,1");
  for (int i = 0; i < 5000; ++i) {
    const std::string name = std::to_string(i);
    t = builder.op("Convolution", "conv" + name, {t, builder.random("w" + name, {2, 2, 1, 1}, 1)});
    t = builder.op("Add", "bias" + name, {t, builder.floats("b" + name, {1, 2, 1, 1}, {1, 2})});
    t = builder.op("ReLU", "relu" + name, {t});
    t = builder.op("Convert", "id" + name, {t}, {{"destination_type", "f32"}});
  }
  builder.result(t, "out");
  infer_shapes(builder.graph);
  const auto start = std::chrono::steady_clock::now();
  run_passes(builder.graph);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(count_type(builder.graph, "Convolution"), 5000U);
  EXPECT_EQ(count_type(builder.graph, "Add") + count_type(builder.graph, "ReLU") + count_type(builder.graph, "Convert"),
            0U);
}

}  // namespace
}  // namespace headrace::testing
