// SPDX-License-Identifier: Apache-2.0
// Recognized operators, common subexpressions, dead code, and the whole pipeline.
#include <gtest/gtest.h>

#include "passes/eliminate_common_subexpressions.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/pipeline.hpp"
#include "passes/recognize_patterns.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

PortRef scalar(GraphBuilder& builder, const std::string& name, float value) {
  return builder.floats(name, {}, {value});
}

TEST(RecognizePatternsTest, ProductWithOwnSigmoidIsSwish) {
  for (const bool is_swapped : {false, true}) {
    GraphBuilder builder;
    const PortRef x = builder.op("Tanh", "in", {builder.parameter("x", "2,3")});
    const PortRef gate = builder.op("Sigmoid", "gate", {x});
    builder.result(builder.op("Multiply", "mul", is_swapped ? std::vector{gate, x} : std::vector{x, gate}), "out");
    const Graph graph = expect_same_meaning(builder.graph, recognize_patterns);
    EXPECT_EQ(count_type(graph, "Swish"), 1U);
    EXPECT_EQ(count_type(graph, "Sigmoid"), 0U);
  }
}

TEST(RecognizePatternsTest, SigmoidOfAnotherTensorStays) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  builder.result(builder.op("Multiply", "mul", {x, builder.op("Sigmoid", "gate", {builder.parameter("y", "2,3")})}));
  EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_patterns), "Swish"), 0U);
}

TEST(RecognizePatternsTest, SigmoidThatIsAnOutputStays) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  const PortRef gate = builder.op("Sigmoid", "gate", {x});
  builder.result(gate, "gate");
  builder.result(builder.op("Multiply", "mul", {x, gate}), "out");
  EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_patterns), "Sigmoid"), 1U);
}

PortRef relu6_of_x_plus_3(GraphBuilder& builder, PortRef x) {
  const PortRef sum = builder.op("Add", "plus3", {x, scalar(builder, "three", 3)});
  return builder.op("Clamp", "relu6", {sum}, {{"min", "0"}, {"max", "6"}});
}

TEST(RecognizePatternsTest, ThreeWritingsOfHSwish) {
  for (int form = 0; form < 3; ++form) {
    GraphBuilder builder;
    const PortRef x = builder.op("Negative", "in", {builder.parameter("x", "2,3")});
    const PortRef gate = relu6_of_x_plus_3(builder, x);
    PortRef out;
    if (form == 0) {
      out = builder.op("Divide", "out", {builder.op("Multiply", "mul", {x, gate}), scalar(builder, "six", 6)});
    } else if (form == 1) {
      out = builder.op("Multiply", "out", {x, builder.op("Divide", "div", {gate, scalar(builder, "six", 6)})});
    } else {
      const PortRef product = builder.op("Multiply", "mul", {gate, x});
      out = builder.op("Multiply", "out", {product, scalar(builder, "sixth", 1.0F / 6)});
    }
    builder.result(out, "y");
    const Graph graph = expect_same_meaning(builder.graph, recognize_patterns);
    EXPECT_EQ(graph.nodes().size(), 4U) << form << "\n" << dump(graph);
    EXPECT_EQ(count_type(graph, "HSwish"), 1U);
  }
}

TEST(RecognizePatternsTest, HSigmoidAlone) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  builder.result(builder.op("Divide", "div", {relu6_of_x_plus_3(builder, x), scalar(builder, "six", 6)}));
  EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_patterns), "HSigmoid"), 1U);
}

TEST(RecognizePatternsTest, OtherConstantsAreNoHSigmoid) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  builder.result(builder.op("Divide", "div", {relu6_of_x_plus_3(builder, x), scalar(builder, "five", 5)}));
  EXPECT_EQ(count_type(expect_same_meaning(builder.graph, recognize_patterns), "HSigmoid"), 0U);
}

TEST(RecognizePatternsTest, ThreeWritingsOfGelu) {
  for (int form = 0; form < 3; ++form) {
    GraphBuilder builder;
    const PortRef x = builder.op("Negative", "in", {builder.parameter("x", "2,3")});
    const PortRef erf = builder.op("Erf", "erf", {builder.op("Divide", "d", {x, scalar(builder, "r2", 1.41421354F)})});
    const PortRef gate = builder.op("Add", "gate", {erf, scalar(builder, "one", 1)});
    const PortRef half = scalar(builder, "half", 0.5F);
    PortRef out;
    if (form == 0) {
      out = builder.op("Multiply", "out", {builder.op("Multiply", "m", {x, gate}), half});
    } else if (form == 1) {
      out = builder.op("Multiply", "out", {builder.op("Multiply", "m", {half, x}), gate});
    } else {
      out = builder.op("Multiply", "out", {x, builder.op("Multiply", "m", {gate, half})});
    }
    builder.result(out, "y");
    const Graph graph = expect_same_meaning(builder.graph, recognize_patterns);
    EXPECT_EQ(count_type(graph, "Gelu"), 1U) << form << "\n" << dump(graph);
    EXPECT_EQ(graph.nodes().size(), 4U);
  }
}

TEST(EliminateCommonSubexpressionsTest, EqualNodesAreComputedOnce) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  const PortRef a = builder.op("Add", "a", {builder.op("Tanh", "t1", {x}), builder.floats("c1", {1}, {2})});
  const PortRef b = builder.op("Add", "b", {builder.op("Tanh", "t2", {x}), builder.floats("c2", {1}, {2})});
  builder.result(builder.op("Multiply", "mul", {a, b}));
  const Graph graph = expect_same_meaning(builder.graph, eliminate_common_subexpressions);
  EXPECT_EQ(count_type(graph, "Tanh"), 1U);
  EXPECT_EQ(count_type(graph, "Add"), 1U);
  EXPECT_EQ(count_type(graph, "Const"), 1U);
}

TEST(EliminateCommonSubexpressionsTest, DifferentAttributesInputsOrTypesStay) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  builder.result(builder.op("Clamp", "a", {x}, {{"min", "0"}, {"max", "6"}}));
  builder.result(builder.op("Clamp", "b", {x}, {{"min", "0"}, {"max", "5"}}));
  builder.result(builder.op("Subtract", "c", {x, builder.floats("one", {1}, {1})}));
  builder.result(builder.op("Subtract", "d", {builder.floats("one_too", {1}, {1}), x}));
  builder.result(builder.op("Subtract", "e", {builder.floats("one_by_one", {1, 1}, {1}), x}));
  const Graph graph = expect_same_meaning(builder.graph, eliminate_common_subexpressions);
  EXPECT_EQ(count_type(graph, "Clamp"), 2U);
  EXPECT_EQ(count_type(graph, "Subtract"), 3U);
}

TEST(EliminateCommonSubexpressionsTest, TwoOutputsKeepTheirNames) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,3");
  builder.result(builder.op("Tanh", "a", {x}), "first");
  builder.result(builder.op("Tanh", "b", {x}), "second");
  const Graph graph = expect_same_meaning(builder.graph, eliminate_common_subexpressions);
  EXPECT_EQ(count_type(graph, "Tanh"), 2U);
}

TEST(EliminateDeadTest, UnreadIndicesOfMaxPoolGo) {
  const RawAttributes raw = {
      {"kernel", "2,2"}, {"strides", "2,2"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}};
  for (const bool are_read : {false, true}) {
    GraphBuilder builder;
    const PortRef pool = builder.op("MaxPool", "pool", {builder.parameter("x", "1,2,4,4")}, raw, 8, 2);
    builder.result(pool, "values");
    if (are_read) builder.result({pool.node, 1}, "indices");
    const Graph graph = expect_same_meaning(builder.graph, eliminate_dead);
    EXPECT_EQ(graph.at(pool.node).outputs.size(), are_read ? 2U : 1U);
  }
}

TEST(EliminateDeadTest, UnreadNodesGoParametersStay) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2");
  builder.parameter("unused", "3");
  builder.op("Tanh", "dead", {x});
  builder.floats("dead_constant", {1}, {1});
  builder.result(x);
  const Graph graph = expect_same_meaning(builder.graph, eliminate_dead);
  EXPECT_EQ(graph.nodes().size(), 3U);
}

TEST(PipelineTest, DumpIsCalledAfterEveryPassInOrder) {
  GraphBuilder builder;
  builder.result(builder.op("ReLU", "relu", {builder.parameter("x", "2")}));
  infer_shapes(builder.graph);
  std::vector<std::string> names;
  run_passes(builder.graph, {.dump = [&](std::string_view pass, const Graph&) { names.emplace_back(pass); }});
  ASSERT_EQ(names.size(), all_passes().size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], all_passes()[i].name);
}

// public-reports.md, case 12, through every pass.
TEST(PipelineTest, SixOutputsKeepNamesAndOrder) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2");
  const PortRef r = builder.op("ReLU", "r", {x});
  builder.result(r);
  builder.result(builder.op("Convert", "r2", {r}, {{"destination_type", "f32"}}));
  builder.result(builder.op("Multiply", "mul", {r, builder.floats("two", {1}, {2})}));
  builder.result(builder.op("Negative", "neg", {r}));
  builder.result(x);
  builder.result(builder.floats("seven", {1}, {7}));
  Graph graph = expect_same_meaning(builder.graph, [](Graph& g) { run_passes(g); });
  std::vector<std::string> names;
  for (const NodeId id : graph.results()) names.push_back(output_name(graph, id));
  EXPECT_EQ(names, (std::vector<std::string>{"r", "r2", "mul", "neg", "x", "seven"}));
  const auto results = run_graph(graph, {make_f32_tensor({2}, std::vector<float>{-1, 2})});
  const std::vector<std::vector<double>> expected = {{0, 2}, {0, 2}, {0, 4}, {0, -2}, {-1, 2}, {7}};
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(to_doubles(results[i]), expected[i]) << names[i];
}

TEST(PipelineTest, MobileBlockBecomesConvolutionsOnly) {
  GraphBuilder builder;
  const auto conv = [&](const std::string& name, PortRef t, const Shape& weights) {
    const std::string type = weights.size() == 5 ? "GroupConvolution" : "Convolution";
    const Tensor half = convert(GraphBuilder::random_tensor(weights, 11), ElementType::f16);
    const PortRef w =
        builder.op("Convert", name + "/f32", {builder.constant(name + "/w", half)}, {{"destination_type", "f32"}});
    const std::string pad = weights.back() == 3 ? "1,1" : "0,0";
    PortRef out = builder.op(type, name, {t, w}, {{"strides", "1,1"}, {"pads_begin", pad}, {"pads_end", pad}});
    return builder.op("Add", name + "/bias", {out, builder.random(name + "/b", {1, 4, 1, 1}, 12)});
  };
  const RawAttributes relu6 = {{"min", "0"}, {"max", "6"}};
  const PortRef x = builder.parameter("image", "1,3,6,6");
  const PortRef scaled = builder.op(
      "Divide", "div", {builder.op("Subtract", "sub", {x, scalar(builder, "127", 127)}), scalar(builder, "128", 128)});
  const PortRef stem = builder.op("Clamp", "stem/relu6", {conv("stem", scaled, {4, 3, 3, 3})}, relu6);
  const PortRef depth = builder.op("Clamp", "depth/relu6", {conv("depth", stem, {4, 1, 1, 3, 3})}, relu6);
  const PortRef project = conv("project", depth, {4, 4, 1, 1});
  builder.result(builder.op("Add", "residual", {project, stem}), "out");
  const Graph graph = expect_same_meaning(
      builder.graph, [](Graph& g) { run_passes(g); }, 1e-4);
  EXPECT_EQ(graph.nodes().size(), 6U + 5U) << dump(graph);  // image, add, 3 convs, result; 3 weights, 1 bias, shift
}

}  // namespace
}  // namespace headrace::testing
