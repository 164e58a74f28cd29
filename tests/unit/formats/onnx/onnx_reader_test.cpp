// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "unit/formats/onnx/onnx_bytes.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;
using ::testing::Property;

constexpr int kFloat = 1;
constexpr int kString = 8;

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Message in(std::string_view name, const std::vector<std::int64_t>& dims) { return value_info(name, kFloat, dims); }

// x -> a -> b with the nodes in the wrong order.
GraphParts unsorted() {
  return {{node("Relu", {"b"}, {"c"}, {}, "second"), node("Neg", {"x"}, {"b"}, {}, "first")},
          {in("x", {2})},
          {in("c", {2})},
          {}};
}

// Case 32: the order of the nodes says nothing.
TEST(OnnxReaderTest, TakesNodesInAnyOrder) {
  EXPECT_THAT(values_of(run(model(unsorted()), {floats({2}, {-1, 2})})[0]), ElementsAre(1, 0));
}

TEST(OnnxReaderTest, NamesNodesAndTensorsAsTheFile) {
  const Graph graph = parse(model(unsorted()));
  const Node& relu = graph.at(graph.find("second"));
  EXPECT_EQ(relu.type, "ReLU");
  EXPECT_EQ(relu.source_type, "Relu");
  EXPECT_THAT(relu.outputs[0].names, ElementsAre("c"));
  EXPECT_EQ(input_name(graph, graph.parameters()[0]), "x");
  EXPECT_EQ(output_name(graph, graph.results()[0]), "c");
  verify(graph, "read");
}

TEST(OnnxReaderTest, NamesTheNodesOfACycle) {
  const std::string bytes = model({{node("Add", {"x", "b"}, {"a"}, {}, "one"), node("Relu", {"a"}, {"b"}, {}, "two")},
                                   {in("x", {2})},
                                   {in("b", {2})},
                                   {}});
  const std::string error = error_of([&] { parse(bytes); });
  EXPECT_THAT(error, HasSubstr("cycle"));
  EXPECT_THAT(error, HasSubstr("'one' (Add)"));
  EXPECT_THAT(error, HasSubstr("'two' (Relu)"));
}

TEST(OnnxReaderTest, NamesAMissingTensor) {
  const std::string bytes =
      model({{node("Add", {"x", "nowhere"}, {"y"}, {}, "sum")}, {in("x", {2})}, {in("y", {2})}, {}});
  EXPECT_THAT(error_of([&] { parse(bytes); }), HasSubstr("node 'sum' (Add): nothing makes its input 'nowhere'"));
  const std::string no_output = model({{}, {in("x", {2})}, {in("y", {2})}, {}});
  EXPECT_THAT(error_of([&] { parse(no_output); }), HasSubstr("'y'"));
}

TEST(OnnxReaderTest, RefusesATensorThatIsMadeTwice) {
  const std::string bytes = model(
      {{node("Relu", {"x"}, {"y"}, {}, "a"), node("Neg", {"x"}, {"y"}, {}, "b")}, {in("x", {2})}, {in("y", {2})}, {}});
  EXPECT_THAT(error_of([&] { parse(bytes); }), HasSubstr("both make the tensor 'y'"));
}

// Case 34: weights among the inputs, an optional input with an empty name, an initializer that nothing reads.
TEST(OnnxReaderTest, InitializersAmongTheInputsAreConstants) {
  for (const std::int64_t ir_version : {3, 4}) {
    const Graph graph = parse(
        model({{node("Clip", {"a", "", "high"}, {"y"}), node("Add", {"x", "w"}, {"a"})},
               {in("x", {2}), in("w", {2})},
               {in("y", {2})},
               {float_tensor("w", {2}, {1, 2}), float_tensor("high", {}, {3}), float_tensor("unused", {2}, {1, 2})}},
              13, {}, ir_version));
    EXPECT_EQ(graph.parameters().size(), 1U);
    EXPECT_FALSE(graph.find("unused").is_valid());
    EXPECT_THAT(values_of(run(graph, {floats({2}, {-5, 2})})[0]), ElementsAre(-4, 3));
  }
}

// Case 12: every output has its name, whatever tensor it stands for.
TEST(OnnxReaderTest, KeepsEveryOutput) {
  const Graph graph =
      parse(model({{node("Relu", {"x"}, {"r"}), node("Identity", {"r"}, {"r2"}), node("Identity", {"x"}, {"copy"})},
                   {in("x", {2})},
                   {in("r", {2}), in("r2", {2}), in("copy", {2}), in("x", {2}), in("c", {1})},
                   {float_tensor("c", {1}, {7})}}));
  std::vector<std::string> names;
  for (const NodeId id : graph.results()) names.push_back(output_name(graph, id));
  EXPECT_THAT(names, ElementsAre("r", "r2", "copy", "x", "c"));
  const std::vector<Tensor> results = run(graph, {floats({2}, {-1, 2})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(0, 2));
  EXPECT_THAT(values_of(results[1]), ElementsAre(0, 2));
  EXPECT_THAT(values_of(results[2]), ElementsAre(-1, 2));
  EXPECT_THAT(values_of(results[3]), ElementsAre(-1, 2));
  EXPECT_THAT(values_of(results[4]), ElementsAre(7));
}

TEST(OnnxReaderTest, RefusesEverythingUnsupportedAtOnce) {
  const std::string bytes = model({{node("Foo", {"x"}, {"a"}, {}, "f1"), node("Foo", {"a"}, {"b"}, {}, "f2"),
                                    node("Bar", {"x"}, {"c"}, {}, "b1", "own"), node("Add", {"b", "c"}, {"y"})},
                                   {in("x", {2}), value_info("d", kString, {2})},
                                   {in("y", {2})},
                                   {}});
  const std::string error = error_of([&] { parse(bytes); });
  EXPECT_THAT(error, HasSubstr("element type STRING of an input ('d')"));
  EXPECT_THAT(error, HasSubstr("Foo ('f1')"));
  EXPECT_THAT(error, HasSubstr("own.Bar ('b1')"));
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

// Found by fuzz_onnx in its first hour: refused while the results are made.
TEST(OnnxReaderTest, RefusesAnInitializerThatIsAnOutput) {
  for (const int type : {0, kString}) {
    const std::string bytes = model({{node("Relu", {"x"}, {"y"})},
                                     {in("x", {2})},
                                     {in("y", {2}), value_info("c", type, {1})},
                                     {raw_tensor("c", type, {1}, "8 bytes!")}});
    const std::string error = error_of([&] { parse(bytes); });
    EXPECT_THAT(error, HasSubstr("('c')")) << type;
    EXPECT_THAT(error, Not(HasSubstr("internal"))) << type;
  }
}

// Found by fuzz_onnx too: with the default axis, 1, the scales of a vector were written past its shape.
TEST(OnnxReaderTest, AVectorHasScalesAlongItsOneAxis) {
  constexpr int kUint8 = 2;
  for (const std::int64_t axis : {-1, 0, 1}) {
    const Graph graph = parse(model({{node("DequantizeLinear", {"x", "s"}, {"y"}, {int_attribute("axis", axis)})},
                                     {},
                                     {in("y", {2})},
                                     {raw_tensor("x", kUint8, {2}, "\x02\x03"), float_tensor("s", {2}, {0.5, 10})}}));
    EXPECT_THAT(values_of(run(graph, {})[0]), ElementsAre(1, 30)) << axis;
  }
  const std::string scalar = model({{node("DequantizeLinear", {"x", "s"}, {"y"})},
                                    {},
                                    {in("y", {2})},
                                    {raw_tensor("x", kUint8, {}, "\x02"), float_tensor("s", {2}, {0.5, 10})}});
  EXPECT_THAT(error_of([&] { parse(scalar); }), HasSubstr("scales for the rows of a scalar"));
}

TEST(OnnxReaderTest, RefusesFactorsThatIntegersDoNotHold) {
  constexpr int kInt64 = 7;
  for (const float alpha : {0.5F, 4.6e35F, -1e19F, std::numeric_limits<float>::quiet_NaN()}) {
    const std::string bytes = model({{node("Gemm", {"a", "b"}, {"y"}, {float_attribute("alpha", alpha)})},
                                     {value_info("a", kInt64, {2, 2}), value_info("b", kInt64, {2, 2})},
                                     {value_info("y", kInt64, {2, 2})},
                                     {}});
    EXPECT_THAT(error_of([&] { parse(bytes); }), HasSubstr("for tensors of i64")) << alpha;
  }
}

TEST(OnnxReaderTest, IgnoresWhatNoOutputNeeds) {
  const Graph graph =
      parse(model({{node("Foo", {"x"}, {"a"}), node("Relu", {"x"}, {"y"})}, {in("x", {2})}, {in("y", {2})}, {}}));
  EXPECT_EQ(graph.nodes().size(), 3U);
}

// f(a) = alpha * a + a, called twice, once with the default of alpha.
TEST(OnnxReaderTest, InlinesFunctions) {
  const Message constant = node("Constant", {}, {"alpha"}, {ref_attribute("value_float", "alpha")});
  Message function = Message().text(1, "Scale").text(4, "a").text(5, "s");
  for (const Message& inner : {constant, node("Mul", {"a", "alpha"}, {"m"}), node("Add", {"m", "a"}, {"s"})}) {
    function.message(7, inner);
  }
  function.message(9, Message().text(1, "").number(2, 17)).text(10, "own");
  function.message(11, float_attribute("alpha", 2));
  const std::string bytes = model({{node("Scale", {"x"}, {"y"}, {float_attribute("alpha", 3)}, "f", "own"),
                                    node("Scale", {"y"}, {"z"}, {}, "g", "own")},
                                   {in("x", {2})},
                                   {in("z", {2})},
                                   {}},
                                  17, {function});
  EXPECT_THAT(values_of(run(bytes, {floats({2}, {1, -1})})[0]), ElementsAre(12, -12));
}

TEST(OnnxReaderTest, BoundsFunctionsThatCallThemselves) {
  Message function = Message().text(1, "F").text(4, "a").text(5, "b");
  function.message(7, node("F", {"a"}, {"c"}, {}, "", "own")).message(7, node("F", {"c"}, {"b"}, {}, "", "own"));
  function.text(10, "own");
  const std::string bytes =
      model({{node("F", {"x"}, {"y"}, {}, "call", "own")}, {in("x", {2})}, {in("y", {2})}, {}}, 17, {function});
  EXPECT_THAT(error_of([&] { parse(bytes); }), HasSubstr("deeper than"));
}

// Both branches read an outer tensor; the condition is a constant.
TEST(OnnxReaderTest, WritesOutTheBranchThatIsTaken) {
  const Message yes = graph({{node("Neg", {"x"}, {"n"})}, {}, {in("n", {2})}, {}});
  const Message no = graph({{node("Unknown", {"x"}, {"n"})}, {}, {in("n", {2})}, {}});
  const std::string bytes =
      model({{node("If", {"c"}, {"y"}, {graph_attribute("then_branch", yes), graph_attribute("else_branch", no)})},
             {in("x", {2})},
             {in("y", {2})},
             {raw_tensor("c", 9, {}, std::string_view("\1", 1))}});
  EXPECT_THAT(values_of(run(bytes, {floats({2}, {1, -2})})[0]), ElementsAre(-1, 2));
}

// state' = state + x; scan output state'. Three turns.
TEST(OnnxReaderTest, UnrollsALoop) {
  const Message body =
      graph({{node("Identity", {"go"}, {"go2"}), node("Add", {"s", "x"}, {"s2"}), node("Identity", {"s2"}, {"scan"})},
             {value_info("i", 7, {}), value_info("go", 9, {}), in("s", {1})},
             {value_info("go2", 9, {}), in("s2", {1}), in("scan", {1})},
             {}});
  const std::string bytes = model({{node("Loop", {"n", "", "zero"}, {"last", "all"}, {graph_attribute("body", body)})},
                                   {in("x", {1})},
                                   {in("last", {1}), in("all", {3, 1})},
                                   {int64_tensor("n", {}, {3}), float_tensor("zero", {1}, {0})}});
  const std::vector<Tensor> results = run(bytes, {floats({1}, {2})});
  EXPECT_THAT(values_of(results[0]), ElementsAre(6));
  EXPECT_THAT(values_of(results[1]), ElementsAre(2, 4, 6));
  EXPECT_EQ(results[1].shape(), (Shape{3, 1}));
}

TEST(OnnxReaderTest, RefusesOpsetsThatItDoesNotKnow) {
  const GraphParts parts = {{node("Relu", {"x"}, {"y"})}, {in("x", {2})}, {in("y", {2})}, {}};
  EXPECT_THAT(error_of([&] { parse(model(parts, 99)); }), HasSubstr("opset 99"));
  EXPECT_EQ(error_of([&] { parse(model(parts, 21)); }), "no error");
}

// Every prefix of a model is either read or refused with one line.
TEST(OnnxReaderTest, SurvivesTruncationAtEachByte) {
  const std::string whole = model({{node("Conv", {"x", "w"}, {"y"}, {ints_attribute("pads", {1, 1, 1, 1})})},
                                   {in("x", {1, 1, 3, 3})},
                                   {in("y", {1, 1, 3, 3})},
                                   {float_tensor("w", {1, 1, 3, 3}, std::vector<float>(9, 1))}});
  int read = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string error = error_of([&] { parse(whole.substr(0, length)); });
    EXPECT_EQ(error.find('\n'), std::string::npos);
    if (error == "no error") ++read;
  }
  EXPECT_LE(read, 40);  // without the last opset imports it is a model still
  EXPECT_EQ(error_of([&] { parse(whole); }), "no error");
}

TEST(OnnxReaderTest, BoundsNesting) {
  Message body = graph({{}, {}, {in("x", {1})}, {}});
  for (int depth = 0; depth < 100; ++depth) {
    body = graph({{node("If", {"c"}, {"y"}, {graph_attribute("then_branch", body)})}, {}, {in("y", {1})}, {}});
  }
  const std::string bytes = Message().number(1, 8).message(7, body).bytes();
  EXPECT_THAT(error_of([&] { parse(bytes); }), HasSubstr("nested deeper"));
}

}  // namespace
}  // namespace headrace::test
