// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/tensorflow/graph_bytes.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Message add(std::string_view name, const Strings& inputs) {
  return tf_node(name, "AddV2", inputs, {tf_type("T", kTfFloat)});
}

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

std::vector<float> values_of(const Tensor& tensor) {
  const auto span = tensor.values<float>();
  return {span.begin(), span.end()};
}

std::string parse_error(const std::string& bytes) {
  return error_of([&] { parse_tf(bytes); });
}

TEST(TensorflowReaderTest, TakesNodesInAnyOrderAndNamesThem) {
  const std::string bytes = tf_graph({add("sum", {"x", "one"}), tf_floats("one", {}, {1}), tf_placeholder("x", {2})});
  const Graph graph = parse_tf(bytes);
  ASSERT_EQ(graph.parameters().size(), 1U);
  EXPECT_THAT(graph.at(graph.parameters()[0]).outputs[0].names, ElementsAre("x", "x:0"));
  ASSERT_EQ(graph.results().size(), 1U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "sum:0");
  EXPECT_EQ(graph.at(graph.find("sum")).source_type, "AddV2");
  EXPECT_THAT(values_of(run_tf(bytes, {floats({2}, {1, 2})})[0]), ElementsAre(2, 3));
}

TEST(TensorflowReaderTest, OutputsAreTheNodesThatNobodyReads) {
  const std::string bytes =
      tf_graph({tf_placeholder("x", {2}), add("a", {"x", "x"}), tf_node("b", "Neg", {"a"}),
                tf_node("c", "Relu", {"a:0"}), tf_node("group", "NoOp", {"^b", "^c"}), tf_floats("unread", {}, {1})});
  const Graph graph = parse_tf(bytes);
  ASSERT_EQ(graph.results().size(), 2U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "b:0");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "c:0");
}

TEST(TensorflowReaderTest, IdentitiesKeepTheOutputsNameAndControlInputsAreNoData) {
  const std::string bytes =
      tf_graph({tf_placeholder("x", {2}), tf_node("check", "Assert", {"x"}), add("a", {"x", "x", "^check"}),
                tf_node("out", "Identity", {"a"}), tf_node("same", "Identity", {"x"})});
  const Graph graph = parse_tf(bytes);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "out:0");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "same:0");
  EXPECT_THAT(values_of(run_tf(bytes, {floats({2}, {1, 2})})[0]), ElementsAre(2, 4));
}

TEST(TensorflowReaderTest, UnknownBatchStaysOpen) {
  const Graph graph = parse_tf(tf_graph({tf_placeholder("x", {-1, 3}), add("a", {"x", "x"})}));
  const PartialShape& shape = graph.at(graph.parameters()[0]).declared_shape;
  EXPECT_FALSE(shape.dims[0].is_static());
  EXPECT_EQ(shape.dims[1].min, 3);
}

TEST(TensorflowReaderTest, ASwitchOfAKnownConditionTakesOneBranch) {
  for (const bool is_training : {false, true}) {
    const std::string bytes =
        tf_graph({tf_placeholder("x", {2}), tf_const("phase", kTfBool, {}, Message().number(11, is_training ? 1 : 0)),
                  tf_node("switch", "Switch", {"x", "phase"}), tf_node("no", "Neg", {"switch:0"}),
                  tf_node("yes", "Unknown", {"switch:1"}), tf_node("merge", "Merge", {"no", "yes"}),
                  tf_node("out", "Abs", {"merge"})});
    if (is_training) {
      EXPECT_THAT(parse_error(bytes), HasSubstr("not supported: Unknown ('yes')"));
    } else {
      EXPECT_THAT(values_of(run_tf(bytes, {floats({2}, {1, -2})})[0]), ElementsAre(1, 2));
    }
  }
}

TEST(TensorflowReaderTest, KerasLearningPhaseIsFalse) {
  const std::string bytes =
      tf_graph({tf_placeholder("x", {2}), tf_placeholder("bn/keras_learning_phase", {}, kTfBool),
                tf_node("switch", "Switch", {"x", "bn/keras_learning_phase"}),
                tf_node("merge", "Merge", {"switch", "switch:1"}), tf_node("out", "Neg", {"merge"})});
  EXPECT_EQ(parse_tf(bytes).parameters().size(), 1U);
  EXPECT_THAT(values_of(run_tf(bytes, {floats({2}, {1, -2})})[0]), ElementsAre(-1, 2));
}

TEST(TensorflowReaderTest, FunctionsArePutInPlace) {
  const Message twice = tf_function_def("twice", {"t"}, {{"r", "sum:z:0"}, {"s", "t"}}, {add("sum", {"t", "t"})});
  const std::string bytes =
      tf_graph({tf_placeholder("x", {2}), tf_node("call", "PartitionedCall", {"x"}, {tf_function("f", "twice")}),
                add("out", {"call:0", "call:1"})},
               {twice});
  EXPECT_THAT(values_of(run_tf(bytes, {floats({2}, {1, -2})})[0]), ElementsAre(3, -6));
  EXPECT_EQ(parse_tf(bytes).at(parse_tf(bytes).find("call")).type, "Add");  // what makes its first output
}

TEST(TensorflowReaderTest, BoundsFunctionsThatCallThemselves) {
  const Message endless = tf_function_def("f", {"t"}, {{"r", "call:output:0"}},
                                          {tf_node("call", "PartitionedCall", {"t"}, {tf_function("f", "f")})});
  const std::string bytes = tf_graph(
      {tf_placeholder("x", {2}), tf_node("out", "PartitionedCall", {"x"}, {tf_function("f", "f")})}, {endless});
  EXPECT_THAT(parse_error(bytes), HasSubstr("deeper than 48"));
  const std::string missing =
      tf_graph({tf_placeholder("x", {2}), tf_node("out", "PartitionedCall", {"x"}, {tf_function("f", "g")})});
  EXPECT_THAT(parse_error(missing),
              HasSubstr("node 'out' (PartitionedCall): calls the function 'g', which is missing"));
}

TEST(TensorflowReaderTest, ALoopOfKnownLengthIsWrittenOut) {
  const Message condition =
      tf_function_def("cond", {"i", "t"}, {{"r", "less:z:0"}},
                      {tf_ints("three", {}, {3}), tf_node("less", "Less", {"i", "three:output:0"})});
  const Message body = tf_function_def(
      "body", {"i", "t"}, {{"a", "next:z:0"}, {"b", "sum:z:0"}},
      {tf_ints("one", {}, {1}), tf_node("next", "AddV2", {"i", "one:output:0"}), add("sum", {"t", "t"})});
  const std::string bytes = tf_graph(
      {tf_placeholder("x", {1}), tf_ints("zero", {}, {0}),
       tf_node("loop", "StatelessWhile", {"zero", "x"}, {tf_function("cond", "cond"), tf_function("body", "body")}),
       tf_node("out", "Identity", {"loop:1"})},
      {condition, body});
  EXPECT_THAT(values_of(run_tf(bytes, {floats({1}, {1})})[0]), ElementsAre(8));
}

TEST(TensorflowReaderTest, RefusesEverythingUnsupportedAtOnce) {
  const std::string error = parse_error(tf_graph(
      {tf_placeholder("x", {2}), tf_node("a", "Foo", {"x"}), tf_node("b", "Foo", {"x"}), tf_node("v", "VarHandleOp"),
       tf_node("c", "ReadVariableOp", {"v"}), tf_placeholder("s", {2}, kTfString), tf_node("d", "Neg", {"s"})}));
  EXPECT_THAT(error, HasSubstr("Foo (2 times, first 'a')"));
  EXPECT_THAT(error, HasSubstr("element type DT_STRING of an input ('s')"));
  EXPECT_THAT(error, HasSubstr("VarHandleOp: variables (freeze the graph: samples/tensorflow/freeze.py) ('v')"));
}

TEST(TensorflowReaderTest, RefusesBatchNormOfTraining) {
  const std::string bytes = tf_graph({tf_placeholder("x", {1, 2, 2, 1}), tf_floats("s", {1}, {1}),
                                      tf_node("bn", "FusedBatchNormV3", {"x", "s", "s", "s", "s"})});
  EXPECT_THAT(parse_error(bytes), HasSubstr("FusedBatchNormV3: is_training"));  // its default
}

TEST(TensorflowReaderTest, RefusesLoopsOfTensorflow1) {
  const std::string bytes = tf_graph({tf_placeholder("x", {2}), tf_node("enter", "Enter", {"x"}),
                                      tf_node("merge", "Merge", {"enter", "next"}),
                                      tf_node("next", "NextIteration", {"merge"}), tf_node("exit", "Exit", {"merge"})});
  EXPECT_THAT(parse_error(bytes), HasSubstr("loops of TensorFlow 1"));
}

TEST(TensorflowReaderTest, NamesCyclesMissingAndDoubleNodes) {
  EXPECT_THAT(parse_error(tf_graph({add("a", {"b", "b"}), add("b", {"a", "a"}), tf_node("out", "Neg", {"a"})})),
              HasSubstr("the graph has a cycle through node 'a' (AddV2), node 'b' (AddV2)"));
  EXPECT_THAT(parse_error(tf_graph({add("a", {"gone", "gone"})})),
              HasSubstr("node 'a' (AddV2): nothing makes its input 'gone'"));
  EXPECT_THAT(parse_error(tf_graph({tf_placeholder("x", {1}), add("a", {"x", "x"}), add("a", {"x", "x"})})),
              HasSubstr("both make the tensor 'a'"));
  EXPECT_THAT(parse_error(tf_graph({tf_placeholder("x", {1}), add("a", {"x:-1", "x"})})),
              HasSubstr("is no name of a tensor"));
  EXPECT_THAT(parse_error(tf_graph({tf_placeholder("x", {1}), add("a", {"x:99999999999999", "x"})})),
              HasSubstr("is no name of a tensor"));
  EXPECT_THAT(parse_error(tf_graph({tf_placeholder("x", {1}), add("a", {"x:7", "x"})})), HasSubstr("reads output 7"));
}

TEST(TensorflowReaderTest, RefusesImpossibleShapes) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_THAT(parse_error(tf_graph({tf_placeholder("x", {big, big}), add("a", {"x", "x"})})),
              HasSubstr("impossible shape"));
  EXPECT_THAT(parse_error(tf_graph({tf_floats("c", {big, big}, {1}), tf_node("a", "Neg", {"c"})})),
              HasSubstr("impossible shape"));
  EXPECT_THAT(parse_error(tf_graph({tf_floats("c", {big}, {1}), tf_node("a", "Neg", {"c"})})),
              HasSubstr("one value for a shape of"));
}

TEST(TensorflowReaderTest, SurvivesTruncationAtEachByte) {
  const Message twice = tf_function_def("twice", {"t"}, {{"r", "sum:z:0"}}, {add("sum", {"t", "t"})});
  const std::string bytes = tf_graph({tf_placeholder("x", {-1, 2}), tf_floats("w", {2}, {1, 2}),
                                      tf_node("call", "PartitionedCall", {"x"}, {tf_function("f", "twice")}),
                                      tf_node("y", "Mul", {"call", "w"}, {tf_type("T", kTfFloat)})},
                                     {twice});
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string error = parse_error(bytes.substr(0, size));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    refused += error == "no error" ? 0U : 1U;
  }
  EXPECT_GT(refused, bytes.size() / 2);
  EXPECT_EQ(parse_error(bytes), "no error");
}

}  // namespace
}  // namespace headrace::test
