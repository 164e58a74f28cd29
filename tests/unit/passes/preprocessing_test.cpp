// SPDX-License-Identifier: Apache-2.0
// Pre-processing baked into a graph: mean, scale, channel order, layout, shapes, outputs.
#include <gtest/gtest.h>

#include "passes/change_layout.hpp"
#include "passes/cut_outputs.hpp"
#include "passes/normalize_input.hpp"
#include "passes/reshape_inputs.hpp"
#include "passes/reverse_channels.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

// One layer that passes a picture on.
Graph picture_network(const std::string& shape, ElementType type = ElementType::f32) {
  GraphBuilder builder;
  builder.result(builder.op("ReLU", "y", {builder.parameter("x", shape, type)}), "y");
  return builder.graph;
}

// Negative answers must show too.
Graph signed_network(const std::string& shape) {
  GraphBuilder builder;
  builder.result(builder.op("Add", "y", {builder.parameter("x", shape), builder.floats("zero", {}, {0})}), "y");
  return builder.graph;
}

std::vector<double> run_on(Graph graph, const Shape& shape, const std::vector<float>& values) {
  infer_shapes(graph);
  return to_doubles(run_graph(graph, {make_f32_tensor(shape, values)}).at(0));
}

void expect_values(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

const std::vector<double> kMean = {123.675, 116.28, 103.53};
const std::vector<double> kScale = {58.395, 57.12, 57.375};
// A pixel R 255, G 0, B 128, normalized: cases/public-reports.md, 25.
const std::vector<double> kPixel = {2.248908, -2.035714, 0.426492};

TEST(PreprocessingTest, NormalizesEachChannelWithItsOwnNumbers) {
  for (const bool is_last : {false, true}) {
    Graph graph = signed_network(is_last ? "1,1,1,3" : "1,3,1,1");
    divide_scale(graph, {"", kScale});
    subtract_mean(graph, {"x", kMean});
    expect_values(run_on(graph, is_last ? Shape{1, 1, 1, 3} : Shape{1, 3, 1, 1}, {255, 0, 128}), kPixel);
  }
}

TEST(PreprocessingTest, ReversesChannelsBeforeTheMean) {
  for (const bool is_last : {false, true}) {
    Graph graph = signed_network(is_last ? "1,1,1,3" : "1,3,1,1");
    divide_scale(graph, {"", kScale});
    subtract_mean(graph, {"", kMean});
    EXPECT_EQ(reverse_channels(graph), std::vector<std::string>{"x"});
    expect_values(run_on(graph, is_last ? Shape{1, 1, 1, 3} : Shape{1, 3, 1, 1}, {128, 0, 255}), kPixel);
  }
}

TEST(PreprocessingTest, OneNumberStandsForEveryChannelOfAnyInput) {
  Graph graph = signed_network("2,2");
  divide_scale(graph, {"", {2}});
  subtract_mean(graph, {"", {1}});
  expect_values(run_on(graph, {2, 2}, {1, 3, 5, -1}), {0, 1, 2, -1});
}

TEST(PreprocessingTest, RefusesChannelsThatCannotBeTold) {
  const auto message = [](const char* shape) {
    return [shape] {
      Graph graph = picture_network(shape);
      reverse_channels(graph);
    };
  };
  for (const char* shape : {"1,4,8,8", "1,3", "1,3,8,3", "?,?,?,?", "..."}) {
    SCOPED_TRACE(shape);
    expect_error(message(shape), ErrorCode::kInvalidArgument, {"--reverse-input-channels", "'x'", "--layout"});
  }
  Graph wrong_count = picture_network("1,3,8,8");
  expect_error([&] { subtract_mean(wrong_count, {"", {1, 2}}); }, ErrorCode::kInvalidArgument, {"--mean", "'x'"});
}

TEST(PreprocessingTest, ALayoutTellsTheChannels) {
  for (const auto& [layout, shape, dims] :
       {std::tuple{"nhwc", "1,1,2,3", Shape{1, 1, 2, 3}}, std::tuple{"NCHW", "1,3,1,3", Shape{1, 3, 1, 3}}}) {
    Graph graph = signed_network(shape);
    set_layout(graph, "x", layout);
    subtract_mean(graph, {"", {1, 2, 3}});
    const bool is_last = dims.at(1) == 1;
    const std::vector<float> zeros(static_cast<std::size_t>(count_elems(dims)), 0.0F);
    const std::vector<double> expected =
        is_last ? std::vector<double>{-1, -2, -3, -1, -2, -3} : std::vector<double>{-1, -1, -1, -2, -2, -2, -3, -3, -3};
    expect_values(run_on(graph, dims, zeros), expected);
  }
  Graph graph = picture_network("1,3,8,8");
  expect_error([&] { set_layout(graph, "x", "nhw"); }, ErrorCode::kInvalidArgument, {"3 letters", "[1,3,8,8]"});
  expect_error([&] { set_layout(graph, "x", "nhhc"); }, ErrorCode::kInvalidArgument, {"'nhhc'"});
}

TEST(PreprocessingTest, RefusesNumbersThatAreNone) {
  Graph graph = picture_network("1,3,8,8");
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& bad :
       {std::vector<double>{0, 1, 1}, {inf, 1, 1}, {1, std::nan(""), 1}, {1e-60}, {}}) {
    expect_error([&] { divide_scale(graph, {"", bad}); }, ErrorCode::kInvalidArgument, {"--scale"});
  }
  expect_error([&] { subtract_mean(graph, {"", {1e39}}); }, ErrorCode::kInvalidArgument, {"--mean"});
  expect_error([&] { subtract_mean(graph, {"z", {1}}); }, ErrorCode::kInvalidArgument, {"'z'", "'x'"});
  Graph bytes = picture_network("1,3,8,8", ElementType::i32);
  expect_error([&] { subtract_mean(bytes, {"", {1}}); }, ErrorCode::kInvalidArgument, {"'x'", "i32"});
}

TEST(PreprocessingTest, OfSeveralInputsThePictureIsMeant) {
  GraphBuilder builder;
  builder.result(builder.op("ReLU", "a", {builder.parameter("info", "1,3")}), "a");
  builder.result(builder.op("ReLU", "b", {builder.parameter("data", "1,3,4,4")}), "b");
  Graph graph = builder.graph;
  EXPECT_EQ(subtract_mean(graph, {"", {1, 2, 3}}), "data");
  EXPECT_EQ(reverse_channels(graph), std::vector<std::string>{"data"});
  expect_error([&] { subtract_mean(graph, {"", {1, 2}}); }, ErrorCode::kInvalidArgument, {"'info'", "'data'"});
}

TEST(PreprocessingTest, ChangesTheLayoutOfInputsAndOutputs) {
  Graph graph = signed_network("1,2,1,3");
  change_layout(graph, "x", "nhwc", "nchw");
  change_layout(graph, "y", "nhwc", "nchw");
  EXPECT_EQ(to_string(graph.at(graph.parameters()[0]).declared_shape), "[1,3,2,1]");
  EXPECT_EQ(output_name(graph, graph.results()[0]), "y");
  infer_shapes(graph);
  EXPECT_EQ(graph.info({graph.find("y"), 0}).shape, (Shape{1, 2, 1, 3}));
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  expect_values(run_on(graph, {1, 3, 2, 1}, values), {1, 2, 3, 4, 5, 6});
  expect_error([&] { change_layout(graph, "x", "nchw", "ncdw"); }, ErrorCode::kInvalidArgument, {"'ncdw'"});
}

TEST(PreprocessingTest, ReshapesInputsWhateverTheFileSays) {
  Graph graph = picture_network("1,3,8,8");
  reshape_inputs(graph, {{"x", parse_partial_shape("2,3,?,16")}});
  EXPECT_EQ(to_string(graph.at(graph.parameters()[0]).declared_shape), "[2,3,?,16]");
  reshape_inputs(graph, {{"", parse_partial_shape("2,3,4,4")}});
  infer_shapes(graph);
  EXPECT_EQ(graph.info({graph.find("y"), 0}).shape, (Shape{2, 3, 4, 4}));
  expect_error(
      [&] {
        reshape_inputs(graph, {{"x", parse_partial_shape("3,4")}});
      },
      ErrorCode::kInvalidArgument, {"'x'", "[2,3,4,4]", "[3,4]"});
}

TEST(PreprocessingTest, SetsTheBatchWhereThereIsOne) {
  GraphBuilder builder;
  builder.result(builder.op("ReLU", "a", {builder.parameter("scalar", "")}), "a");
  builder.result(builder.op("ReLU", "b", {builder.parameter("row", "7")}), "b");
  builder.result(builder.op("ReLU", "c", {builder.parameter("data", "?,3,4,4")}), "c");
  builder.result(builder.op("ReLU", "d", {builder.parameter("info", "1,2")}), "d");
  Graph graph = builder.graph;
  EXPECT_EQ(set_batch(graph, 4), (std::vector<std::string>{"data", "info"}));
  EXPECT_EQ(to_string(graph.at(graph.parameters()[2]).declared_shape), "[4,3,4,4]");
  EXPECT_EQ(to_string(graph.at(graph.parameters()[1]).declared_shape), "[7]");
  Graph last = picture_network("3,8,8,1");
  expect_error([&] { set_batch(last, 2); }, ErrorCode::kInvalidArgument, {"'x'", "--layout"});
  set_layout(last, "x", "chwn");
  set_batch(last, 2);
  EXPECT_EQ(to_string(last.at(last.parameters()[0]).declared_shape), "[3,8,8,2]");
  Graph none = picture_network("5");
  expect_error([&] { set_batch(none, 2); }, ErrorCode::kInvalidArgument, {"no input"});
}

TEST(PreprocessingTest, CutsAtTensorsLayersAndPorts) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "1,4");
  const PortRef halves = builder.op("Split", "halves", {x, builder.scalar_int("axis", 1)}, {{"num_splits", "2"}}, 1, 2);
  builder.graph.at(halves.node).outputs[0].names = {"low:0"};
  const PortRef end = builder.op("Concat", "end", {{halves.node, 1}, halves}, {{"axis", "1"}});
  builder.result(builder.op("ReLU", "gone", {end}), "old");
  Graph graph = builder.graph;
  cut_outputs(graph, {"end", "low", "halves:1"});
  ASSERT_EQ(graph.results().size(), 3U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "end");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "low:0");
  EXPECT_EQ(output_name(graph, graph.results()[2]), "halves:1");
  EXPECT_FALSE(graph.find("gone").is_valid());
  verify(graph, "cut_outputs");
  expect_values(run_on(graph, {1, 4}, {1, 2, 3, 4}), {3, 4, 1, 2});
  for (const auto& [names, part] : {std::pair{std::vector<std::string>{"halves"}, "halves:0"},
                                    std::pair{std::vector<std::string>{"halve"}, "similar: 'halves'"},
                                    std::pair{std::vector<std::string>{"halves:2"}, "no tensor or layer"},
                                    std::pair{std::vector<std::string>{"low", "halves:0"}, "one tensor"}}) {
    Graph copy = builder.graph;
    expect_error([&, &wanted = names] { cut_outputs(copy, wanted); }, ErrorCode::kInvalidArgument, {part});
  }
}

}  // namespace
}  // namespace headrace::testing
