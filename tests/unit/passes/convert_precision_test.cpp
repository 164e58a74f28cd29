// SPDX-License-Identifier: Apache-2.0
#include "passes/convert_precision.hpp"

#include <gtest/gtest.h>

#include "test_graph.hpp"

namespace headrace::testing {
namespace {

// How many tensors of type f16 are read by or written by anything but Parameter, Const, Convert and Result.
std::size_t count_half_arithmetic(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    if (node.type == "Parameter" || node.type == "Const" || node.type == "Convert" || node.type == "Result") continue;
    for (const PortRef& input : node.inputs) count += graph.info(input).type == ElementType::f16 ? 1U : 0U;
    for (const OutputInfo& output : node.outputs) count += output.type == ElementType::f16 ? 1U : 0U;
  }
  return count;
}

struct HalfNet {
  GraphBuilder builder;
  PortRef sum;

  HalfNet() {
    const PortRef x = builder.parameter("x", "1,3", ElementType::f16);
    const Tensor c = convert(make_f32_tensor({1, 3}, std::vector<float>{1, 2, 3}), ElementType::f16);
    sum = builder.op("Add", "sum", {x, builder.constant("c", c)});
  }
};

TEST(ConvertPrecisionTest, ArithmeticIsWidenedInterfaceKept) {
  HalfNet net;
  net.builder.result(net.sum, "y");
  Graph graph = net.builder.graph;
  infer_shapes(graph);
  convert_precision(graph);
  verify(graph, "convert_precision");
  EXPECT_EQ(count_half_arithmetic(graph), 0U);
  EXPECT_EQ(graph.info({graph.parameters()[0], 0}).type, ElementType::f16);
  EXPECT_EQ(graph.info(graph.at(graph.results()[0]).inputs[0]).type, ElementType::f16);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "y");
  EXPECT_EQ(input_name(graph, graph.parameters()[0]), "x");
  const Tensor input = convert(make_f32_tensor({1, 3}, std::vector<float>{.5F, -2, 8}), ElementType::f16);
  const auto results = run_graph(graph, {input});
  EXPECT_EQ(to_doubles(results[0]), (std::vector<double>{1.5, 0, 11}));
}

TEST(ConvertPrecisionTest, OutputThatIsReadInsideToo) {
  HalfNet net;
  net.builder.result(net.sum, "y");
  net.builder.result(net.builder.op("ReLU", "relu", {net.sum}), "z");
  net.builder.result(net.sum);  // the same tensor twice
  Graph graph = net.builder.graph;
  infer_shapes(graph);
  convert_precision(graph);
  verify(graph, "convert_precision");
  EXPECT_EQ(count_half_arithmetic(graph), 0U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "y");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "z");
  EXPECT_EQ(output_name(graph, graph.results()[2]), "y");
  EXPECT_EQ(count_type(graph, "Convert"), 3U);  // x to f32, y and z to f16
}

TEST(ConvertPrecisionTest, BoundaryToBoundaryIsUntouched) {
  GraphBuilder builder;
  builder.result(builder.parameter("x", "2", ElementType::f16));
  builder.result(builder.constant("c", Tensor(ElementType::f16, {2})));
  Graph graph = builder.graph;
  infer_shapes(graph);
  convert_precision(graph);
  EXPECT_EQ(count_type(graph, "Convert"), 0U);
  EXPECT_EQ(graph.nodes().size(), 4U);
}

TEST(ConvertPrecisionTest, ConvertToHalfInsideBecomesFloat) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2", ElementType::i32);
  const PortRef half = builder.op("Convert", "to_half", {x}, {{"destination_type", "f16"}});
  builder.result(builder.op("Convert", "back", {builder.op("ReLU", "relu", {half})}, {{"destination_type", "i32"}}));
  const Graph graph = expect_same_meaning(builder.graph, [](Graph& g) { convert_precision(g); });
  EXPECT_EQ(graph.at(graph.find("to_half")).attributes.get_string("destination_type"), "f32");
}

TEST(ConvertPrecisionTest, FloatGraphIsUntouched) {
  GraphBuilder builder;
  builder.result(builder.op("ReLU", "relu", {builder.parameter("x", "2")}));
  infer_shapes(builder.graph);
  const std::string before = dump(builder.graph);
  convert_precision(builder.graph);
  EXPECT_EQ(dump(builder.graph), before);
}

}  // namespace
}  // namespace headrace::testing
