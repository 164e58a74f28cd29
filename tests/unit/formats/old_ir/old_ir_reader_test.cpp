// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.hpp"
#include "core/log.hpp"
#include "unit/formats/old_ir/old_ir_model.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fault_of(const std::string& xml, const std::string& bin = "") {
  return error_of([&] { parse_old(xml, bin); });
}

std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

Tensor floats(const Shape& shape, const std::vector<float>& values) { return make_f32_tensor(shape, values); }

const Shape kTwo = {1, 2};
const std::string kInput = old_layer(0, "data", "Input", {}, {kTwo});

std::string relu(int id, std::string_view name) { return old_layer(id, name, "ReLU", {kTwo}, {kTwo}); }

TEST(OldIrReaderTest, NamesLayersAndOutputsAsTheFile) {
  const Graph graph = parse_old(old_net(
      5, {kInput, relu(1, "first"), old_layer(2, "cut", "Split", {kTwo}, {{1, 1}, {1, 1}}, "<data axis=\"1\"/>")},
      {{0, 0, 1, 0}, {1, 1, 2, 0}}));
  EXPECT_EQ(input_name(graph, graph.parameters()[0]), "data");
  EXPECT_EQ(graph.at(graph.find("first")).source_type, "ReLU");
  ASSERT_EQ(graph.results().size(), 2U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "cut.0");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "cut.1");
  verify(graph, "read");
}

// Case 32: layers in any order.
TEST(OldIrReaderTest, TakesLayersInAnyOrder) {
  const Graph graph = parse_old(old_net(7, {relu(5, "last"), relu(3, "middle"), kInput}, {{3, 1, 5, 0}, {0, 0, 3, 0}}));
  EXPECT_THAT(values_of(run(graph, {floats(kTwo, {-1, 2})})[0]), ElementsAre(0, 2));
}

// Case 21: broken graphs.
TEST(OldIrReaderTest, NamesWhatIsWrongWithTheGraph) {
  EXPECT_THAT(fault_of(old_net(7, {relu(1, "a"), relu(2, "b")}, {{1, 1, 2, 0}, {2, 1, 1, 0}})),
              HasSubstr("the graph has a cycle through layer 'a' (ReLU)"));
  EXPECT_THAT(fault_of(old_net(7, {kInput, relu(1, "a")}, {{0, 3, 1, 0}})),
              HasSubstr("an edge joins port 3 of layer 0 to port 0 of layer 1, one of which is missing"));
  EXPECT_THAT(fault_of(old_net(7, {kInput, relu(1, "a")}, {})), HasSubstr("layer 'a' (ReLU): no edge feeds port 0"));
  EXPECT_THAT(fault_of(old_net(7, {kInput, relu(0, "a")}, {{0, 0, 0, 0}})), HasSubstr("has the id 0 of another layer"));
  EXPECT_THAT(fault_of(old_net(7, {kInput, relu(1, "a")}, {{0, 0, 1, 0}, {0, 0, 1, 0}})), HasSubstr("has two edges"));
  EXPECT_THAT(fault_of(old_net(7, {kInput}, {})), HasSubstr("the network has no outputs"));
  EXPECT_THAT(fault_of(old_net(7, {}, {})), HasSubstr("the network has no layers"));
  const std::string huge = old_layer(0, "x", "Input", {}, {{1LL << 32, 1LL << 32}});
  EXPECT_THAT(fault_of(old_net(7, {huge, relu(1, "a")}, {{0, 0, 1, 0}})), HasSubstr("impossible shape"));
}

TEST(OldIrReaderTest, RefusesAllThatIsUnsupportedInOneLine) {
  const std::string error = fault_of(
      old_net(7,
              {kInput, old_layer(1, "a", "SimplerNMS", {kTwo}, {kTwo}), old_layer(2, "b", "SimplerNMS", {kTwo}, {kTwo}),
               old_layer(3, "c", "Resample", {kTwo}, {{1, 1, 2, 2}}, "<data type=\"cubic\"/>"),
               old_layer(4, "d", "LSTMSequence", {kTwo}, {kTwo})},
              {{0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 3, 0}, {0, 0, 4, 0}}));
  EXPECT_EQ(error,
            "not supported: SimplerNMS (2 times, first 'a'), Resample: the type 'cubic' ('c'), LSTMSequence ('d')");
}

TEST(OldIrReaderTest, KnowsTheVersionsThatItReads) {
  for (int version = 0; version <= 12; ++version) {
    const std::string xml = old_net(version, {kInput, relu(1, "a")}, {{0, 0, 1, 0}});
    const bool is_old = version >= 2 && version <= 7;
    EXPECT_EQ(is_old_ir(xml), is_old) << version;
    EXPECT_EQ(fault_of(xml) == "no error", is_old) << version;
  }
  EXPECT_TRUE(is_old_ir("<!-- <net version=\"11\"> --><net name=\"x\" version=\"4\">"));
  EXPECT_FALSE(is_old_ir("<!-- <net version=\"4\">"));
  EXPECT_FALSE(is_old_ir("<net"));
  EXPECT_FALSE(is_old_ir(""));
}

TEST(OldIrReaderTest, ShapesMustBeThoseOfTheFile) {
  EXPECT_THAT(fault_of(old_net(7, {kInput, old_layer(1, "a", "ReLU", {kTwo}, {{1, 3}})}, {{0, 0, 1, 0}})),
              HasSubstr("layer 'a' (ReLU): its output has shape [1,3] in the file, but [1,2] by its attributes"));
}

TEST(OldIrReaderTest, ReadsHalvesAsFloats) {
  const std::string bin("\x00\x3C\x00\x40", 4);  // 1, 2
  const std::string scale = "<blobs><weights offset=\"0\" size=\"4\"/></blobs>";
  const Shape shape = {1, 2, 1, 1};
  const Graph graph = parse_old(old_net(5,
                                        {old_layer(0, "x", "Input", {}, {shape}, "", "FP16"),
                                         old_layer(1, "s", "ScaleShift", {shape}, {shape}, scale, "FP16")},
                                        {{0, 0, 1, 0}}),
                                bin);
  EXPECT_EQ(graph.at(graph.parameters()[0]).outputs[0].type, ElementType::f32);
  EXPECT_THAT(values_of(run(graph, {floats(shape, {3, 4})})[0]), ElementsAre(3, 8));
}

TEST(OldIrReaderTest, TakesMeansOffTheInput) {
  const Shape shape = {1, 2, 1, 2};
  const std::vector<std::string> layers = {old_layer(0, "x", "Input", {}, {shape}),
                                           old_layer(1, "r", "Power", {shape}, {shape})};
  const std::string values =
      "<pre-process reference-layer-name=\"x\"><channel id=\"0\"><mean value=\"1.5\"/></channel>"
      "<channel id=\"1\"><mean value=\"10\"/></channel></pre-process>";
  EXPECT_THAT(values_of(run(parse_old(old_net(2, layers, {{0, 0, 1, 0}}, values)), {floats(shape, {2, 3, 4, 5})})[0]),
              ElementsAre(.5F, 1.5F, -6, -5));
  const std::string picture =
      "<pre-process mean-precision=\"FP32\"><channel id=\"1\"><mean offset=\"4\" size=\"8\"/></channel>"
      "</pre-process>";
  EXPECT_THAT(values_of(run(parse_old(old_net(2, layers, {{0, 0, 1, 0}}, picture), bytes_of({0, 1, 2})),
                            {floats(shape, {2, 3, 4, 5})})[0]),
              ElementsAre(2, 3, 3, 3));
  EXPECT_THAT(fault_of(old_net(2, layers, {{0, 0, 1, 0}},
                               "<pre-process><channel id=\"0\"><scale value=\"2\"/></channel></pre-process>")),
              HasSubstr("--scale"));
  EXPECT_THAT(fault_of(old_net(2, layers, {{0, 0, 1, 0}},
                               "<pre-process><channel id=\"7\"><mean value=\"2\"/></channel></pre-process>")),
              HasSubstr("mean for channel 7"));
}

// Case 21: weights past the end, offsets that wrap round, other sizes than the shape's.
TEST(OldIrReaderTest, RefusesWeightsOutsideOfTheFile) {
  const auto net = [](const std::string& offset, const std::string& size) {
    return old_net(7,
                   {kInput, old_layer(1, "s", "ScaleShift", {kTwo}, {kTwo},
                                      "<blobs><weights offset=\"" + offset + "\" size=\"" + size + "\"/></blobs>")},
                   {{0, 0, 1, 0}});
  };
  const std::string bin = bytes_of({1, 2});
  EXPECT_EQ(fault_of(net("0", "8"), bin), "no error");
  EXPECT_THAT(
      fault_of(net("1", "8"), bin),
      HasSubstr("layer 's' (ScaleShift): <weights>: needs 8 bytes at offset 1 of 'the weights', the file has 8 bytes"));
  EXPECT_THAT(fault_of(net("9223372036854775800", "8"), bin), HasSubstr("the file has 8 bytes"));
  EXPECT_THAT(fault_of(net("-8", "8"), bin), HasSubstr("the file has 8 bytes"));
  EXPECT_THAT(fault_of(net("0", "-8"), bin), HasSubstr("<weights>"));
  EXPECT_THAT(fault_of(net("0", "6"), bin), HasSubstr("has 6 bytes"));
  EXPECT_THAT(fault_of(net("0", "18446744073709551608"), bin), HasSubstr("expected an integer"));
}

TEST(OldIrReaderTest, TruncationsAreRefusedInOneLine) {
  const std::string xml = old_net(
      6, {kInput, old_layer(1, "s", "ScaleShift", {kTwo}, {kTwo}, "<blobs><weights offset=\"0\" size=\"8\"/></blobs>")},
      {{0, 0, 1, 0}});
  const std::string bin = bytes_of({1, 2});
  EXPECT_EQ(fault_of(xml, bin), "no error");
  for (std::size_t size = 0; size < xml.size(); ++size) {
    const std::string error = fault_of(xml.substr(0, size), bin);
    EXPECT_NE(error, "no error") << size;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  for (std::size_t size = 0; size < bin.size(); ++size) EXPECT_NE(fault_of(xml, bin.substr(0, size)), "no error");
}

TEST(OldIrReaderTest, SaysThatItUpgrades) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / "old.xml").string();
  write_file(path, {as_bytes(old_net(4, {kInput, relu(1, "a")}, {{0, 0, 1, 0}}))});
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view, std::string_view line) {
    if (level == LogLevel::kWarn) lines.emplace_back(line);
  });
  read_old_ir(path);
  set_log_sink(nullptr);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("old.xml' is IR v4, upgraded on load"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace headrace::test
