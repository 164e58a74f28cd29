// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x -> a -> b -> result, and c reads a too.
struct SmallGraph {
  Graph graph;
  NodeId x = add("x", "Parameter", {});
  NodeId a = add("a", "ReLU", {{x, 0}});
  NodeId b = add("b", "Tanh", {{a, 0}});
  NodeId c = add("c", "Add", {{a, 0}, {a, 0}});
  NodeId result = add("out", "Result", {{b, 0}});

  NodeId add(const std::string& name, const std::string& type, std::vector<PortRef> inputs) {
    Node node;
    node.name = name;
    node.type = type;
    node.inputs = std::move(inputs);
    if (type != "Result") node.outputs.push_back({ElementType::f32, {2}, true, {}});
    return graph.add(std::move(node));
  }
};

TEST(GraphTest, AddKeepsOrderOfParametersAndResults) {
  const SmallGraph small;
  EXPECT_THAT(small.graph.nodes(), ElementsAre(small.x, small.a, small.b, small.c, small.result));
  EXPECT_THAT(small.graph.parameters(), ElementsAre(small.x));
  EXPECT_THAT(small.graph.results(), ElementsAre(small.result));
  EXPECT_EQ(small.graph.at(small.a).source_type, "ReLU");
  EXPECT_EQ(small.graph.find("c"), small.c);
  EXPECT_FALSE(small.graph.find("missing").is_valid());
}

TEST(GraphTest, AddConstDescribesItsValue) {
  Graph graph;
  const NodeId id = graph.add_const("c", Tensor(ElementType::i64, {2, 3}));
  EXPECT_TRUE(is_const(graph, {id, 0}));
  EXPECT_EQ(graph.info({id, 0}).type, ElementType::i64);
  EXPECT_EQ(graph.info({id, 0}).shape, (Shape{2, 3}));
  EXPECT_TRUE(graph.info({id, 0}).is_resolved);
}

TEST(GraphTest, UsersListEveryInput) {
  const SmallGraph small;
  const auto users = small.graph.users({small.a, 0});
  ASSERT_EQ(users.size(), 3U);
  EXPECT_EQ(users[0].node, small.b);
  EXPECT_EQ(users[2].node, small.c);
  EXPECT_EQ(users[2].input, 1);
  const UserMap map(small.graph);
  EXPECT_EQ(map.of({small.a, 0}).size(), 3U);
  EXPECT_THAT(map.of({small.c, 0}), IsEmpty());
}

TEST(GraphTest, ReplaceUsesMovesReadersAndNames) {
  SmallGraph small;
  small.graph.at(small.a).outputs[0].names = {"first", "shared"};
  small.graph.at(small.x).outputs[0].names = {"shared"};
  small.graph.replace_uses({small.a, 0}, {small.x, 0});
  EXPECT_THAT(small.graph.users({small.a, 0}), IsEmpty());
  EXPECT_THAT(small.graph.info({small.x, 0}).names, ElementsAre("shared", "first"));
  EXPECT_THAT(small.graph.info({small.a, 0}).names, IsEmpty());
}

TEST(GraphTest, RemovedNodeIsGoneForEveryWalk) {
  SmallGraph small;
  EXPECT_THROW(small.graph.remove(small.a), Error);  // still read
  EXPECT_THROW(small.graph.remove(small.x), Error);  // a Parameter
  small.graph.remove(small.c);
  EXPECT_FALSE(small.graph.contains(small.c));
  EXPECT_THROW(small.graph.at(small.c), Error);
  EXPECT_THAT(small.graph.nodes(), ElementsAre(small.x, small.a, small.b, small.result));
  EXPECT_EQ(small.graph.users({small.a, 0}).size(), 1U);
  EXPECT_FALSE(small.graph.find("c").is_valid());
  EXPECT_EQ(small.graph.topological_order().size(), 4U);
  const NodeId next = small.add("d", "ReLU", {{small.a, 0}});
  EXPECT_NE(next, small.c);  // ids are never used again
  EXPECT_THAT(small.graph.nodes(), ElementsAre(small.x, small.a, small.b, small.result, next));
}

TEST(GraphTest, RemovedResultLeavesTheList) {
  SmallGraph small;
  small.graph.remove(small.result);
  EXPECT_THAT(small.graph.results(), IsEmpty());
}

TEST(GraphTest, RemoveDeadKeepsParametersAndWhatResultsNeed) {
  SmallGraph small;
  const NodeId unused = small.add("unused", "Parameter", {});
  EXPECT_EQ(small.graph.remove_dead(), 1U);  // c
  EXPECT_THAT(small.graph.nodes(), ElementsAre(small.x, small.a, small.b, small.result, unused));
  EXPECT_EQ(small.graph.remove_dead(), 0U);
}

TEST(GraphTest, OrderHasProducersFirstWhateverTheIds) {
  Graph graph;
  SmallGraph small;
  const NodeId late = small.add("late", "Parameter", {});
  small.graph.set_input(small.a, 0, {late, 0});  // a now reads a node with a higher id
  const auto order = small.graph.topological_order();
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i].value)] = i;
  for (const NodeId id : order) {
    for (const PortRef& input : small.graph.at(id).inputs) {
      EXPECT_LT(position[static_cast<std::size_t>(input.node.value)], position[static_cast<std::size_t>(id.value)]);
    }
  }
  EXPECT_EQ(order.front(), small.x);  // of the ready ones the lowest id
}

TEST(GraphTest, CyclesAreNamed) {
  SmallGraph small;
  small.graph.set_input(small.a, 0, {small.b, 0});
  try {
    static_cast<void>(small.graph.topological_order());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_THAT(error.what(), HasSubstr("'a'"));
    EXPECT_THAT(error.what(), HasSubstr("'b'"));
  }
  small.graph.set_input(small.a, 0, {small.a, 0});  // a node that reads itself
  EXPECT_THROW(static_cast<void>(small.graph.topological_order()), Error);
}

TEST(VerifyTest, FindsBrokenInvariants) {
  EXPECT_NO_THROW(verify(SmallGraph().graph, "test"));
  const auto expect_broken = [](auto damage) {
    SmallGraph small;
    damage(small);
    try {
      verify(small.graph, "the_pass");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("after the_pass"));
    }
  };
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.a, 0, {NodeId{99}, 0}); });
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.a, 0, {s.x, 1}); });
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.a, 0, {s.x, -1}); });
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.result, 1, {s.x, 0}); });
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.x, 0, {s.a, 0}); });
  expect_broken([](SmallGraph& s) { s.graph.set_input(s.a, 0, {s.b, 0}); });
  expect_broken([](SmallGraph& s) { s.graph.at(s.b).epilogue.bias_input = 1; });
  expect_broken([](SmallGraph& s) {
    const NodeId id = s.graph.add_const("c", Tensor(ElementType::f32, {2}));
    s.graph.at(id).outputs[0].shape = {3};
  });
}

TEST(DumpTest, IsStableAndShowsWhatMatters) {
  SmallGraph small;
  small.graph.at(small.a).attributes.set("alpha", 0.5);
  small.graph.at(small.a).epilogue.activation = Activation::kRelu;
  small.graph.at(small.a).fused_names = {"folded"};
  const std::string text = dump(small.graph);
  EXPECT_EQ(text, dump(small.graph));
  EXPECT_THAT(text, HasSubstr("%1 = ReLU 'a'(%0) alpha=[0.5] epilogue{bias=-1 residual=-1 relu} -> f32[2] +'folded'"));
}

TEST(NamesTest, TensorNameElseLayerName) {
  SmallGraph small;
  EXPECT_EQ(output_name(small.graph, small.result), "b");
  EXPECT_EQ(input_name(small.graph, small.x), "x");
  small.graph.at(small.b).outputs.push_back({ElementType::f32, {2}, true, {}});
  EXPECT_EQ(output_name(small.graph, small.result), "b.0");
  small.graph.at(small.b).outputs[0].names = {"scores", "other"};
  small.graph.at(small.x).outputs[0].names = {"image:0"};
  EXPECT_EQ(output_name(small.graph, small.result), "scores");
  EXPECT_EQ(input_name(small.graph, small.x), "image:0");
}

TEST(ActivationTest, EveryOneHasAName) {
  EXPECT_EQ(to_string(Activation::kNone), "none");
  EXPECT_EQ(to_string(Activation::kGeluTanh), "gelu_tanh");
  EXPECT_EQ(to_string(Activation::kHardSigmoid), "hard_sigmoid");
  EXPECT_EQ(to_string(Activation::kFakeQuantize), "fake_quantize");
}

TEST(VerifyTest, ChecksTheGraphsInsideNodes) {
  const auto with_body = [](const Body& body) {
    Graph graph;
    Node node;
    node.name = "branch";
    node.type = "If";
    node.bodies = {body};
    graph.add(std::move(node));
    return graph;
  };
  Body body;
  EXPECT_THROW(verify(with_body(body), "test"), Error);
  body.graph = std::make_shared<const Graph>();
  EXPECT_NO_THROW(verify(with_body(body), "test"));
  body.inputs = {{0, 0, std::nullopt}};
  EXPECT_THROW(verify(with_body(body), "test"), Error);
  body.inputs.clear();
  for (int depth = 0; depth < kMaxBodyDepth; ++depth) {
    body.graph = std::make_shared<const Graph>(with_body(body));
  }
  EXPECT_THROW(verify(with_body(body), "test"), Error) << "nested too deep";
}

}  // namespace
}  // namespace headrace
