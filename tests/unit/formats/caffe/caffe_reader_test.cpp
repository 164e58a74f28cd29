// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.hpp"
#include "unit/formats/caffe/caffe_model.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fault_of(std::string_view prototxt, const std::string& weights = "") {
  return error_of([&] { parse_model(prototxt, weights); });
}

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.results()) names.push_back(output_name(graph, id));
  return names;
}

constexpr std::string_view kConvolution =
    "convolution_param { num_output: 1 kernel_size: 1 bias_term: true weight_filler { type: 'xavier' } } }";

// Case R12: the spellings of one network, among them version 1's words and numbers and legacy shapes.
TEST(CaffeReaderTest, ReadsOneNetworkInAllSpellings) {
  const std::string v2_layer =
      "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' " + std::string(kConvolution);
  const std::string v1_layer =
      "layers { name: 'c' type: CONVOLUTION bottom: 'x' top: 'c' blobs_lr: 1 blobs_lr: 2 " + std::string(kConvolution);
  const std::string by_number = "layers { name: 'c' type: 4 bottom: 'x' top: 'c' " + std::string(kConvolution);
  const std::string inputs[] = {
      "input: 'x' input_dim: 1 input_dim: 2 input_dim: 1 input_dim: 2\n",
      "input: 'x' input_shape { dim: 1 dim: 2 dim: 1 dim: 2 }\n",
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape: { dim: 1 dim: 2 dim: 1 dim: 2 } } }\n"};
  const std::vector<Message> blobs = {blob({1, 2, 1, 1}, {2, 3}), blob({1}, {10})};
  const std::vector<Message> legacy = {legacy_blob({1, 2, 1, 1}, {2, 3}), legacy_blob({1, 1, 1, 1}, {10})};
  std::set<std::string> dumps;
  for (const std::string& input : inputs) {
    for (const std::string& layer : {v2_layer, v1_layer, by_number}) {
      if (input.starts_with("layer") && layer.starts_with("layers")) continue;
      for (const std::string& weights : {caffemodel({{"c", blobs}}), caffemodel({{"c", legacy}}),
                                         v1_caffemodel({{"c", blobs}}), v1_caffemodel({{"c", legacy}})}) {
        const Graph graph = parse_model(input + layer, weights);
        dumps.insert(dump(graph));
        EXPECT_THAT(values_of(run(graph, {counting({1, 2, 1, 2})})[0]), ElementsAre(16, 21));
      }
    }
  }
  EXPECT_EQ(dumps.size(), 1U);
  EXPECT_THAT(fault_of(inputs[0] + v2_layer + v1_layer), HasSubstr("has both \"layer\" (version 2) and \"layers\""));
}

TEST(CaffeReaderTest, NamesLayersAndTensorsAsTheFile) {
  const Graph graph = parse_model(with_input("1, 2",
                                             "layer { name: 'first' type: 'ReLU' bottom: 'x' top: 'a' }\n"
                                             "layer { name: 'second' type: 'TanH' bottom: 'a' top: 'b' }"));
  EXPECT_EQ(graph.at(graph.find("first")).type, "ReLU");
  EXPECT_EQ(graph.at(graph.find("second")).source_type, "TanH");
  EXPECT_THAT(graph.at(graph.find("first")).outputs[0].names, ElementsAre("a"));
  EXPECT_EQ(input_name(graph, graph.parameters()[0]), "x");
  EXPECT_THAT(output_names(graph), ElementsAre("b"));
}

TEST(CaffeReaderTest, LayersInPlaceOverwriteTheirBlob) {
  const Graph graph =
      parse_model(with_input("3",
                             "layer { name: 'p' type: 'Power' bottom: 'x' top: 'a' power_param { shift: -1 } }\n"
                             "layer { name: 'r' type: 'ReLU' bottom: 'a' top: 'a' }\n"
                             "layer { name: 'd' type: 'Dropout' bottom: 'a' top: 'a' }\n"
                             "layer { name: 'e' type: 'Power' bottom: 'a' top: 'a' power_param { scale: 10 } }"));
  EXPECT_THAT(output_names(graph), ElementsAre("a"));
  EXPECT_THAT(values_of(run(graph, {counting({3})})[0]), ElementsAre(0, 0, 10));
  const Graph on_input = parse_model(with_input("2", "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'x' }"));
  EXPECT_THAT(values_of(run(on_input, {floats({2}, {-1, 2})})[0]), ElementsAre(0, 2));
}

TEST(CaffeReaderTest, OutputsAreTheTopsThatNothingReadsInTheFilesOrder) {
  const Graph graph =
      parse_model(with_input("2",
                             "layer { name: 's' type: 'Split' bottom: 'x' top: 'z' top: 'y' top: 'w' }\n"
                             "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'b' }\n"
                             "layer { name: 't' type: 'TanH' bottom: 'z' top: 'a' }\n"
                             "layer { name: 'q' type: 'Silence' bottom: 'w' }"));
  EXPECT_THAT(output_names(graph), ElementsAre("b", "a"));
}

TEST(CaffeReaderTest, KeepsTheLayersOfTheTestPhase) {
  const auto net = [](std::string_view state) {
    return std::string(state) +
           with_input("1",
                      "layer { name: 'a' type: 'Power' bottom: 'x' top: 'y' power_param { shift: 1 } "
                      "include { phase: TRAIN } }\n"
                      "layer { name: 'b' type: 'Power' bottom: 'x' top: 'y' power_param { shift: 2 } "
                      "include { phase: TEST not_stage: 'fast' } }\n"
                      "layer { name: 'c' type: 'Power' bottom: 'x' top: 'y' power_param { shift: 3 } "
                      "include { stage: 'fast' min_level: 1 } }\n"
                      "layer { name: 'd' type: 'Power' bottom: 'y' top: 'y' power_param { scale: 2 } "
                      "exclude { phase: TEST } }\n");
  };
  EXPECT_THAT(values_of(run(parse_model(net("")), {counting({1})})[0]), ElementsAre(2));
  EXPECT_THAT(values_of(run(parse_model(net("state { stage: 'fast' level: 1 }")), {counting({1})})[0]), ElementsAre(3));
  EXPECT_THAT(fault_of(with_input("1",
                                  "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' include { phase: TEST } "
                                  "exclude { phase: TRAIN } }")),
              HasSubstr("layer 'a': has both include and exclude rules"));
}

TEST(CaffeReaderTest, DataLayersBecomeInputsOfOpenShape) {
  const Graph graph = parse_model(
      "layer { name: 'd' type: 'Data' top: 'data' top: 'label' transform_param { crop_size: 2 mean_value: 3 } "
      "data_param { source: 'x' batch_size: 8 } }\n"
      "layer { name: 'p' type: 'Softmax' bottom: 'data' top: 'p' }\n"
      "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'p' bottom: 'label' }\n"
      "layer { name: 'acc' type: 'Accuracy' bottom: 'p' bottom: 'label' top: 'acc' }");
  ASSERT_EQ(graph.parameters().size(), 1U);
  EXPECT_EQ(to_string(graph.at(graph.parameters()[0]).declared_shape), "[?,?,2,2]");
  EXPECT_THAT(output_names(graph), ElementsAre("loss"));
}

TEST(CaffeReaderTest, RefusesAllThatIsUnsupportedInOneLine) {
  const std::string error = fault_of(
      with_input("1, 2",
                 "layer { name: 'l' type: 'LSTM' bottom: 'x' top: 'a' }\n"
                 "layer { name: 'm' type: 'LSTM' bottom: 'x' top: 'b' }\n"
                 "layer { name: 'p' type: 'Python' bottom: 'x' top: 'c' python_param { module: 'mod' layer: 'Lay' } }\n"
                 "layer { name: 'q' type: 'Mine' bottom: 'b' top: 'd' }\n"
                 "layer { name: 'o' type: 'ReLU' bottom: 'x' top: 'e' relu_param { knee: 2 } }"));
  EXPECT_EQ(
      error,
      "not supported: LSTM (2 times, first 'l'), Python: code in Python (mod.Lay), which has no meaning here: cut "
      "the network before it ('p'), ReLU: field 'knee' of relu_param in line 6 is not known ('o')");
}

TEST(CaffeReaderTest, NamesWhatIsWrongWithTheGraph) {
  EXPECT_THAT(fault_of(with_input("1", "layer { name: 'a' type: 'ReLU' bottom: 'b' top: 'c' }")),
              HasSubstr("layer 'a' (ReLU): nothing before it makes its bottom 'b'"));
  // A cycle: Caffe wants the order of the file.
  EXPECT_THAT(fault_of("layer { name: 'a' type: 'ReLU' bottom: 'c' top: 'b' }\n"
                       "layer { name: 'd' type: 'ReLU' bottom: 'b' top: 'c' }"),
              HasSubstr("nothing before it makes its bottom 'c'"));
  EXPECT_THAT(fault_of(with_input("1",
                                  "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' }\n"
                                  "layer { name: 'b' type: 'TanH' bottom: 'x' top: 'y' }")),
              HasSubstr("layer 'b' (TanH): makes the blob 'y', which is there already"));
  EXPECT_THAT(fault_of(with_input("1", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' top: 'z' }")),
              HasSubstr("has 2 tops, it makes 1"));
  EXPECT_THAT(fault_of("name: 'n'"), HasSubstr("no layers in phase TEST"));
  EXPECT_THAT(fault_of(with_input("1", "")), HasSubstr("the network has no outputs"));
}

TEST(CaffeReaderTest, RefusesImpossibleShapes) {
  const std::string relu = "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' }";
  EXPECT_THAT(fault_of(with_input("4294967296, 4294967296", relu)), HasSubstr("impossible shape"));
  EXPECT_THAT(fault_of(with_input("-1", relu)), HasSubstr("impossible shape"));
  EXPECT_THAT(fault_of("input: 'x' input_dim: 1 " + relu), HasSubstr("1 inputs and 1 input_dim"));
  const std::string reshape =
      "layer { name: 'a' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { shape { dim: "
      "9223372036854775807 dim: 9223372036854775807 } } }";
  EXPECT_EQ(fault_of(with_input("1, 1", reshape)), "no error");  // refused when shapes are inferred
}

// Numbers of the file size nothing that is allocated.
TEST(CaffeReaderTest, RefusesHugeAxesOfUnknownRanks) {
  const std::string open = "input: 'x' ";
  EXPECT_THAT(
      fault_of(open + "layer { name: 'a' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { axis: 2147483647 } }"),
      HasSubstr("axis is 2147483647"));
  EXPECT_THAT(
      fault_of(open + "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 1 "
                      "axis: 2147483647 } }",
               caffemodel({{"a", {blob({1, 1}, {1})}}})),
      HasSubstr("axis 2147483647 of an input of unknown rank"));
}

TEST(CaffeReaderTest, RefusesVersionZero) {
  EXPECT_THAT(fault_of("input: 'x' layers { layer { name: 'a' type: 'relu' } bottom: 'x' top: 'y' }"),
              HasSubstr("V0 (2013) is not supported"));
  const std::string weights = Message().message(2, Message().message(1, Message().text(1, "conv"))).bytes();
  EXPECT_THAT(fault_of(with_input("1", "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' }"), weights),
              HasSubstr("V0 (2013) are not supported"));
}

TEST(CaffeReaderTest, NamesTheLayerThatLacksWeights) {
  const std::string net = with_input(
      "1, 2, 1, 1", "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' " + std::string(kConvolution));
  EXPECT_THAT(fault_of(net), HasSubstr("layer 'c' (Convolution): needs weights (blob 0), 'the weights' has 0 blobs"));
  EXPECT_THAT(fault_of(net, caffemodel({{"c", {blob({1, 2, 1, 1}, {1, 2})}}})), HasSubstr("needs weights (blob 1)"));
  EXPECT_THAT(fault_of(net, caffemodel({{"c", {blob({1, 3, 1, 1}, {1, 2, 3}), blob({1}, {1})}}})),
              HasSubstr("its weights are for 3 channels, its input has 2"));
  EXPECT_THAT(fault_of(net, caffemodel({{"c", {blob({1, 2, 1, 1}, {1, 2}), blob({2}, {1, 2})}}})),
              HasSubstr("blob 1: has 2 values, expected [1,1,1,1]"));
  EXPECT_THAT(fault_of(net, caffemodel({{"c", {blob({1}, {1})}}, {"c", {blob({1}, {1})}}})),
              HasSubstr("two layers named 'c' have weights"));
}

TEST(CaffeReaderTest, TakesValuesInEveryEncoding) {
  const std::string net =
      with_input("1, 2",
                 "layer { name: 'f' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 1 "
                 "bias_term: false } }");
  const auto result = [&](const Message& values) {
    return values_of(run(parse_model(net, caffemodel({{"f", {values}}})), {floats({1, 2}, {1, 10})})[0]);
  };
  EXPECT_THAT(result(blob({1, 2}, {2, 3})), ElementsAre(32));
  EXPECT_THAT(result(Message().float32(5, 2).float32(5, 3)), ElementsAre(32));
  const double doubles[] = {2, 3};
  EXPECT_THAT(result(Message().text(8, {reinterpret_cast<const char*>(doubles), sizeof doubles})), ElementsAre(32));
  EXPECT_THAT(fault_of(net, caffemodel({{"f", {Message().number(10, 2).text(12, "1234")}}})),
              HasSubstr("InnerProduct: has values in field raw_data"));
  EXPECT_THAT(fault_of(net, "\x89HDF\r\n"), HasSubstr("HDF5"));
}

// Each prefix of the files is refused or, where nothing needed is cut off, read; none crashes.
TEST(CaffeReaderTest, TruncationsAreRefusedInOneLine) {
  const std::string net = with_input(
      "1, 2, 1, 1", "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y' " + std::string(kConvolution));
  const std::string weights = caffemodel({{"c", {blob({1, 2, 1, 1}, {1, 2}), blob({1}, {3})}}});
  EXPECT_EQ(fault_of(net, weights), "no error");
  for (std::size_t size = 0; size < net.size(); ++size) {
    const std::string error = fault_of(net.substr(0, size), weights);
    EXPECT_NE(error, "no error") << size;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  for (std::size_t size = 0; size < weights.size(); ++size) {
    const std::string error = fault_of(net, weights.substr(0, size));
    EXPECT_NE(error, "no error") << size;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

TEST(CaffeReaderTest, FindsTheWeightsBesideTheText) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "caffe model, \xE7\xBD\x91";
  std::filesystem::create_directories(folder);
  const std::string text = with_input("1, 1",
                                      "layer { name: 'f' type: 'InnerProduct' bottom: 'x' top: 'y' "
                                      "inner_product_param { num_output: 1 bias_term: false } }");
  const std::string weights = caffemodel({{"f", {blob({1, 1}, {7})}}});
  const std::string path = (folder / "net.prototxt").string();
  write_file(path, {as_bytes(text)});
  EXPECT_THAT(error_of([&] { read_caffe(path); }), HasSubstr("net.caffemodel"));
  EXPECT_THAT(error_of([&] { read_caffe(path); }), HasSubstr("name the weights with -w"));
  write_file((folder / "net.caffemodel").string(), {as_bytes(weights)});
  EXPECT_THAT(values_of(run(read_caffe(path), {floats({1, 1}, {2})})[0]), ElementsAre(14));
  const std::string other = (folder / "other.caffemodel").string();
  write_file(other, {as_bytes(caffemodel({{"f", {blob({1, 1}, {5})}}}))});
  EXPECT_THAT(values_of(run(read_caffe(path, other), {floats({1, 1}, {2})})[0]), ElementsAre(10));
  EXPECT_THAT(error_of([&] { read_caffe(path, (folder / "none").string()); }), HasSubstr("none"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headrace::test
