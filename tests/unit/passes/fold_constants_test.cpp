// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.hpp"

#include <gtest/gtest.h>

#include "test_graph.hpp"

namespace headrace::testing {
namespace {

TEST(FoldConstantsTest, DecompressesHalfWeights) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  const Tensor half = convert(GraphBuilder::random_tensor({3, 4}, 1), ElementType::f16);
  const PortRef w = builder.op("Convert", "decompress", {builder.constant("w", half)}, {{"destination_type", "f32"}});
  builder.result(builder.op("MatMul", "mm", {x, w}));
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(count_type(graph, "Convert"), 0U);
  EXPECT_EQ(count_type(graph, "Const"), 1U);
}

// What convert_precision makes of compressed weights: no second copy of them.
TEST(FoldConstantsTest, ConvertToTheSameTypeSharesItsValue) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  const Tensor value = GraphBuilder::random_tensor({3, 4}, 1);
  const PortRef w = builder.op("Convert", "decompress", {builder.constant("w", value)}, {{"destination_type", "f32"}});
  builder.result(builder.op("MatMul", "mm", {x, w}));
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(graph.at(graph.at(graph.find("mm")).inputs[1]).value.data(), value.data());
}

TEST(FoldConstantsTest, FoldsDequantisationChain) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  Tensor quantised(ElementType::i8, {3, 4});
  for (std::size_t i = 0; i < 12; ++i)
    quantised.mutable_values<std::int8_t>()[i] = static_cast<std::int8_t>(i * 20 - 120);
  const PortRef wide =
      builder.op("Convert", "widen", {builder.constant("w", quantised)}, {{"destination_type", "f32"}});
  const PortRef shifted = builder.op("Subtract", "zero_point", {wide, builder.floats("z", {1, 4}, {1, 2, 3, 4})});
  const PortRef w = builder.op("Multiply", "scale", {shifted, builder.floats("s", {1, 4}, {.1F, .2F, .3F, .4F})});
  builder.result(builder.op("MatMul", "mm", {x, w}));
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(graph.nodes().size(), 4U);  // x, w, mm, result
}

TEST(FoldConstantsTest, FoldsShapeOfResolvedTensor) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3,4");
  const PortRef shape = builder.op("ShapeOf", "shape", {x}, {{"output_type", "i64"}}, 3);
  builder.result(builder.op("Reshape", "flat", {builder.op("ReLU", "r", {x}), shape}, {{"special_zero", "false"}}));
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(count_type(graph, "ShapeOf"), 0U);
}

TEST(FoldConstantsTest, LargeBroadcastOfSmallConstantStays) {
  for (const bool is_large : {false, true}) {
    GraphBuilder builder;
    const PortRef one = builder.floats("one", {1}, {1});
    const PortRef shape = builder.ints("shape", {is_large ? 5000 : 50, 1000});  // 20 MB or 200 kB
    builder.result(builder.op("Broadcast", "wide", {one, shape}, {{"mode", "numpy"}}, 3));
    infer_shapes(builder.graph);
    fold_constants(builder.graph);
    EXPECT_EQ(count_type(builder.graph, "Broadcast"), is_large ? 1U : 0U);
  }
}

TEST(FoldConstantsTest, FoldedNetworkOutputKeepsItsName) {
  GraphBuilder builder;
  const PortRef sum = builder.op("Add", "sum", {builder.floats("a", {1}, {3}), builder.floats("b", {1}, {4})});
  builder.result(sum, "seven");
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "seven");
  EXPECT_EQ(count_type(graph, "Add"), 0U);
}

TEST(FoldConstantsTest, FoldsEveryUsedOutputOfSplit) {
  GraphBuilder builder;
  const PortRef split =
      builder.op("Split", "split", {builder.floats("a", {4}, {1, 2, 3, 4}), builder.scalar_int("axis", 0)},
                 {{"num_splits", "2"}}, 1, 2);
  builder.result({split.node, 1}, "second");
  builder.result(split, "first");
  const Graph graph = expect_same_meaning(builder.graph, fold_constants);
  EXPECT_EQ(count_type(graph, "Split"), 0U);
}

// public-reports.md, R8: an index past the end is an error before the run.
TEST(FoldConstantsTest, ErrorOfAReferenceNamesTheLayer) {
  GraphBuilder builder;
  const PortRef data = builder.floats("data", {12}, std::vector<float>(12, 1));
  const PortRef gathered =
      builder.op("Gather", "pick", {data, builder.ints("index", {12}), builder.scalar_int("axis", 0)}, {}, 8);
  builder.result(gathered);
  expect_error(
      [&] {
        infer_shapes(builder.graph);
        fold_constants(builder.graph);
      },
      ErrorCode::kBadModel, {"layer 'pick' (Gather)"});
}

}  // namespace
}  // namespace headrace::testing
