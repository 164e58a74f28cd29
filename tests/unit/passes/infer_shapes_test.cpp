// SPDX-License-Identifier: Apache-2.0
#include "passes/infer_shapes.hpp"

#include <gtest/gtest.h>

#include "test_graph.hpp"

namespace headrace::testing {
namespace {

TEST(InferShapesTest, ParameterToResultTakesDeclaredShape) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,3,8,8");
  builder.result(x);
  infer_shapes(builder.graph);
  EXPECT_TRUE(builder.graph.info(x).is_resolved);
  EXPECT_EQ(builder.graph.info(x).shape, (Shape{1, 3, 8, 8}));
}

TEST(InferShapesTest, ConstToResultIsResolved) {
  GraphBuilder builder;
  const PortRef c = builder.ints("c", {7});
  const NodeId result = builder.result(c);
  infer_shapes(builder.graph);
  EXPECT_EQ(builder.graph.info(c).type, ElementType::i64);
  EXPECT_TRUE(builder.graph.at(result).outputs.empty());
}

TEST(InferShapesTest, GivenShapeResolvesDynamicInputByEitherName) {
  for (const std::string name : {"x", "x:0"}) {
    GraphBuilder builder;
    const PortRef x = builder.parameter("x", "?,3,8..16,?");
    builder.graph.at(x.node).outputs[0].names = {"x:0"};
    builder.result(x);
    infer_shapes(builder.graph, {{name, {2, 3, 9, 1}}});
    EXPECT_EQ(builder.graph.info(x).shape, (Shape{2, 3, 9, 1}));
  }
}

TEST(InferShapesTest, DynamicInputWithoutShapeNamesTheOption) {
  for (const std::string shape : {"?,3", "...", "1..4"}) {
    GraphBuilder builder;
    builder.result(builder.parameter("image", shape));
    expect_error([&] { infer_shapes(builder.graph); }, ErrorCode::kInvalidArgument,
                 {"'image'", "--input-shape", to_string(parse_partial_shape(shape))});
  }
}

TEST(InferShapesTest, ShapeThatDeclarationRefusesIsAnError) {
  GraphBuilder builder;
  builder.result(builder.parameter("image", "?,3,8..16"));
  for (const Shape& shape : std::vector<Shape>{{1, 4, 8}, {1, 3, 17}, {1, 3}, {}}) {
    expect_error(
        [&] {
          infer_shapes(builder.graph, {{"image", shape}});
        },
        ErrorCode::kInvalidArgument, {"'image'", to_string(shape)});
  }
}

TEST(InferShapesTest, ShapeForUnknownInputListsInputs) {
  GraphBuilder builder;
  builder.result(builder.parameter("image", "1"));
  expect_error(
      [&] {
        infer_shapes(builder.graph, {{"imag", {1}}});
      },
      ErrorCode::kInvalidArgument, {"'imag'", "'image'"});
}

TEST(InferShapesTest, UnknownOperatorIsNamedWithItsLayerOnce) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1");
  Node node;
  node.name = "odd";
  node.type = "NoSuchOperator";
  node.inputs = {x};
  node.outputs.resize(1);
  builder.result({builder.graph.add(std::move(node)), 0});
  expect_error([&] { infer_shapes(builder.graph); }, ErrorCode::kUnsupported,
               {"layer 'odd' (NoSuchOperator): unknown operator"});
}

}  // namespace
}  // namespace headrace::testing
