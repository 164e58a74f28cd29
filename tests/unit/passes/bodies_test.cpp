// SPDX-License-Identifier: Apache-2.0
// Graphs inside nodes: inlining and unrolling them, and making ready those that stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/unknown_value.hpp"
#include "passes/convert_precision.hpp"
#include "passes/eliminate_common_subexpressions.hpp"
#include "passes/inline_bodies.hpp"
#include "passes/prepare_bodies.hpp"
#include "unit/passes/test_graph.hpp"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

// A body of one Parameter "in" and one operator on it.
Body one_op_body(const std::string& type, std::size_t input, ElementType element = ElementType::f32) {
  GraphBuilder b;
  const PortRef in = b.parameter("in", "2,3", element);
  b.result(b.op(type, "inner", {in}));
  Body body;
  body.graph = std::make_shared<const Graph>(std::move(b.graph));
  body.inputs = {{input, 0, std::nullopt}};
  body.outputs = {{0, 0, std::nullopt}};
  return body;
}

PortRef add_if(GraphBuilder& b, PortRef condition, PortRef x, const std::string& name = "branch") {
  const PortRef made = b.op("If", name, {condition, x}, {}, 8);
  b.graph.at(made.node).bodies = {one_op_body("ReLU", 1), one_op_body("Negative", 1)};
  return made;
}

std::size_t count_bodies(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId id : graph.nodes()) count += graph.at(id).bodies.size();
  return count;
}

TEST(InlineBodiesTest, TakesTheBranchOfAKnownCondition) {
  for (const std::int64_t flag : {0, 1}) {
    GraphBuilder b;
    const PortRef x = b.parameter("x", "2,3");
    const PortRef sum = b.op("Add", "after", {add_if(b, b.scalar_int("flag", flag), x), x});
    b.result(sum, "y");
    const Graph after = expect_same_meaning(b.graph, inline_bodies);
    EXPECT_EQ(count_bodies(after), 0U);
    EXPECT_TRUE(after.find("branch/inner").is_valid());
    EXPECT_EQ(after.at(after.find("branch/inner")).type, flag == 1 ? "ReLU" : "Negative");
  }
}

// Adding nodes moves the graph's own in memory: many of them, and names too long to live inside their nodes.
TEST(InlineBodiesTest, TakesBranchesOfManyLayers) {
  GraphBuilder inner;
  PortRef last = inner.parameter("in", "2,3");
  for (int i = 0; i < 100; ++i)
    last = inner.op("Negative", "a_layer_with_a_rather_long_name_" + std::to_string(i), {last});
  inner.result(last);
  Body body;
  body.graph = std::make_shared<const Graph>(std::move(inner.graph));
  body.inputs = {{1, 0, std::nullopt}};
  body.outputs = {{0, 0, std::nullopt}};
  GraphBuilder b;
  const std::string name = "a_branch_with_a_rather_long_name";
  const PortRef made = b.op("If", name, {b.scalar_int("flag", 1), b.parameter("x", "2,3")}, {}, 8);
  b.graph.at(made.node).bodies = {body, body};
  b.result(made, "y");
  const Graph after = expect_same_meaning(b.graph, inline_bodies);
  EXPECT_TRUE(after.find(name + "/a_layer_with_a_rather_long_name_99").is_valid());
}

TEST(InlineBodiesTest, FindsConditionsThatFollowFromShapes) {
  GraphBuilder b;
  const PortRef x = b.parameter("x", "2,3");
  const PortRef size = b.op(
      "Gather", "size", {b.op("ShapeOf", "shape", {x}, {}, 3), b.scalar_int("at", 1), b.scalar_int("axis", 0)}, {}, 8);
  const PortRef condition = b.op("Equal", "is_three", {size, b.scalar_int("three", 3)});
  b.result(add_if(b, condition, x), "y");
  const Graph after = expect_same_meaning(b.graph, inline_bodies);
  EXPECT_EQ(after.at(after.find("branch/inner")).type, "ReLU");
}

TEST(InlineBodiesTest, KeepsOutputsThatPassThrough) {
  GraphBuilder b;
  const PortRef x = b.parameter("x", "2,3");
  GraphBuilder inner;
  inner.result(inner.parameter("in", "2,3"));
  Body body;
  body.graph = std::make_shared<const Graph>(std::move(inner.graph));
  body.inputs = {{1, 0, std::nullopt}};
  body.outputs = {{0, 0, std::nullopt}};
  const PortRef made = b.op("If", "branch", {b.scalar_int("flag", 1), x}, {}, 8);
  b.graph.at(made.node).bodies = {body, body};
  b.result(made, "y");
  b.result(x, "x_again");
  EXPECT_EQ(count_bodies(expect_same_meaning(b.graph, inline_bodies)), 0U);
}

TEST(InlineBodiesTest, LeavesAConditionOfTheRun) {
  GraphBuilder b;
  const PortRef condition = b.parameter("c", "");
  const PortRef x = b.parameter("x", "2,3");
  b.result(add_if(b, condition, x), "y");
  EXPECT_EQ(count_bodies(expect_same_meaning(b.graph, inline_bodies)), 2U);
}

// state * 0.5 + part of x, per iteration; the parts of x are rows.
Graph iterator_graph(const std::string& rows, std::int64_t stride) {
  GraphBuilder inner;
  const PortRef part = inner.parameter("part", "1,3");
  const PortRef state = inner.parameter("state", "1,3");
  const PortRef scaled = inner.op("Multiply", "scaled", {state, inner.floats("half", {1}, {0.5F})});
  const PortRef next = inner.op("Add", "next", {scaled, part});
  inner.result(next);
  inner.result(inner.op("ReLU", "shown", {next}));
  const BodySlice slice = stride > 0 ? BodySlice{} : BodySlice{0, -1, 0, -1, 1};
  Body body;
  body.graph = std::make_shared<const Graph>(std::move(inner.graph));
  body.inputs = {{0, 0, slice}, {1, 1, std::nullopt}};
  body.outputs = {{0, 0, std::nullopt}, {1, 1, slice}};
  body.back_edges = {{0, 1}};
  GraphBuilder b;
  const PortRef x = b.parameter("x", rows + ",3");
  const PortRef made = b.op("TensorIterator", "loop", {x, b.parameter("start", "1,3")}, {}, 1, 2);
  b.graph.at(made.node).bodies = {body};
  b.result(made, "last");
  b.result({made.node, 1}, "all");
  return b.graph;
}

TEST(InlineBodiesTest, UnrollsFewIterations) {
  for (const std::int64_t stride : {1, -1}) {
    const Graph after = expect_same_meaning(iterator_graph("3", stride), inline_bodies);
    EXPECT_EQ(count_bodies(after), 0U);
    EXPECT_TRUE(after.find("loop/2/next").is_valid());
    EXPECT_EQ(count_bodies(expect_same_meaning(iterator_graph("40", stride), inline_bodies)), 1U);
  }
}

TEST(PrepareBodiesTest, ComputesHalfBodiesInFloat) {
  GraphBuilder inner;
  const PortRef in = inner.parameter("in", "2,3", ElementType::f16);
  const PortRef half =
      inner.constant("half", convert(make_f32_tensor({1}, std::vector<float>{0.5F}), ElementType::f16));
  const PortRef sum = inner.op("Add", "sum", {half, half});
  inner.result(inner.op("Multiply", "product", {in, sum}));
  Body body;
  body.graph = std::make_shared<const Graph>(std::move(inner.graph));
  body.inputs = {{1, 0, std::nullopt}};
  body.outputs = {{0, 0, std::nullopt}};
  GraphBuilder b;
  const PortRef condition = b.parameter("c", "");
  const PortRef x = b.parameter("x", "2,3", ElementType::f16);
  const PortRef made = b.op("If", "branch", {condition, x}, {}, 8);
  b.graph.at(made.node).bodies = {body, body};
  b.result(made, "y");
  infer_shapes(b.graph);
  convert_precision(b.graph);
  prepare_bodies(b.graph);
  const Graph& prepared = *b.graph.at(b.graph.find("branch")).bodies[0].graph;
  EXPECT_FALSE(prepared.find("sum").is_valid()) << dump(prepared);
  const Tensor data = convert(GraphBuilder::random_tensor({2, 3}, 3), ElementType::f16);
  expect_close(run_graph(b.graph, {make_f32_tensor({}, std::vector<float>{1}), data})[0], data);
}

TEST(EliminateCommonSubexpressionsTest, KeepsNodesOfDifferentBodies) {
  GraphBuilder b;
  const PortRef condition = b.parameter("c", "");
  const PortRef x = b.parameter("x", "2,3");
  const PortRef first = add_if(b, condition, x, "first");
  const PortRef second = add_if(b, condition, x, "second");
  std::swap(b.graph.at(second.node).bodies[0], b.graph.at(second.node).bodies[1]);
  b.result(b.op("Subtract", "difference", {first, second}), "y");
  expect_same_meaning(b.graph, eliminate_common_subexpressions);
}

std::string shape_error(const Graph& graph) {
  Graph copy = graph;
  try {
    infer_shapes(copy);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The branch that is not taken need not fit the inputs (one for another sampling rate, say).
TEST(InferBodiesTest, AsksForTheConditionWhereABranchDoesNotFit) {
  GraphBuilder b;
  const PortRef condition = b.parameter("c", "", ElementType::boolean);
  const PortRef made = b.op("If", "branch", {condition, b.parameter("x", "2,3")}, {}, 8);
  GraphBuilder inner;
  inner.result(inner.op("Squeeze", "drop", {inner.parameter("in", "?,?"), inner.ints("axis", {1})}));
  Body squeezing = one_op_body("ReLU", 1);
  squeezing.graph = std::make_shared<const Graph>(std::move(inner.graph));
  b.graph.at(made.node).bodies = {one_op_body("ReLU", 1), squeezing};
  b.result(made, "y");
  try {
    infer_shapes(b.graph);
    FAIL() << "the condition is not known";
  } catch (const UnknownValue& error) {
    EXPECT_EQ(error.sources(), std::vector<PortRef>{condition});
    EXPECT_EQ(error.node(), made.node);
  }
}

TEST(InferBodiesTest, RefusesWhatDependsOnTheRun) {
  GraphBuilder b;
  const PortRef made = b.op("If", "branch", {b.parameter("c", ""), b.parameter("x", "2,3")}, {}, 8);
  b.graph.at(made.node).bodies = {one_op_body("ReLU", 1), one_op_body("ShapeOf", 1)};
  b.result(made, "y");
  EXPECT_THAT(shape_error(b.graph), HasSubstr("layer 'branch' (If): If has branches of different outputs"));
  b.graph.at(made.node).bodies.pop_back();
  EXPECT_THAT(shape_error(b.graph), HasSubstr("needs two bodies, has 1"));
  Graph wide = iterator_graph("4", 1);
  Node& loop = wide.at(wide.find("loop"));
  loop.bodies[0].inputs[0].slice->part_size = 3;
  EXPECT_THAT(shape_error(wide), HasSubstr("into parts of 3"));
}

}  // namespace
}  // namespace headrace::testing
