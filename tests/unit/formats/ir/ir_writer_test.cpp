// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/file.hpp"
#include "core/log.hpp"
#include "unit/formats/ir/ir_text.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WriteIrTest : public ::testing::Test {
 protected:
  WriteIrTest() : folder_(fs::path(::testing::TempDir()) / ("headrace out 猫 " + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~WriteIrTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name = "n.xml") const { return (folder_ / name).string(); }
  Graph written(const Graph& graph, const IrWriteOptions& options = {}) const {
    write_ir(graph, path(), options);
    return read_ir(path());
  }

  fs::path folder_;
};

// A graph of constants that go straight to Results.
Graph constants(const std::vector<Tensor>& values) {
  Graph graph;
  for (const Tensor& value : values) {
    const NodeId id = graph.add_const("c" + std::to_string(graph.nodes().size()), value);
    Node result;
    result.name = "r" + std::to_string(graph.nodes().size());
    result.type = "Result";
    result.inputs = {{id, 0}};
    graph.add(std::move(result));
  }
  return graph;
}

Tensor floats(std::vector<float> values) { return make_f32_tensor({static_cast<std::int64_t>(values.size())}, values); }

TEST_F(WriteIrTest, ReadsBackEqual) {
  IrText text;
  text.parameter(0, "x", "1,?,3..8,4..").parameter(1, "y", "2,3");
  text.constant(2, "axis", "i64", "", "0", "8")
      .op(3, "c", "Concat", 2, "axis='-1'")
      .op(4, "s", "Squeeze", 2, "", "opset15");
  text.result(5, "r2").result(6, "r1");
  text.edge(0, 0, 3, 0).edge(1, 0, 3, 1).edge(3, 2, 4, 0).edge(2, 0, 4, 1).edge(4, 2, 6, 0).edge(1, 0, 5, 0);
  const Graph graph = text.parse(make_blob(std::string(8, '\0')));
  const Graph back = written(graph);
  EXPECT_EQ(dump(back).size(), dump(graph).size());
  EXPECT_EQ(to_string(back.at(back.parameters()[0]).declared_shape), "[1,?,3..8,4..]");
  const Node& squeeze = back.at(back.find("s"));
  EXPECT_EQ(squeeze.opset, 15);
  EXPECT_EQ(back.at(back.find("c")).attributes, graph.at(graph.find("c")).attributes);
  EXPECT_EQ(back.at(squeeze.inputs[0]).name, "c");
  EXPECT_EQ(back.at(squeeze.inputs[1]).value.type(), ElementType::i64);
  EXPECT_EQ(back.at(back.results()[0]).name, "r2");
  EXPECT_EQ(back.at(back.results()[1]).name, "r1");
}

TEST_F(WriteIrTest, KeepsNamesThatXmlCannotHoldAsTheyAre) {
  Graph graph;
  graph.name = "<net> & \"quotes\" 猫";
  Node parameter;
  parameter.name = "a<b>&\"c' 猫\nd";
  parameter.type = "Parameter";
  parameter.declared_shape = PartialShape(Shape{1});
  parameter.outputs = {{ElementType::f32, {1}, true, {"x,y", "猫", "<&>"}}};
  const NodeId x = graph.add(parameter);
  Node result;
  result.name = "r";
  result.type = "Result";
  result.inputs = {{x, 0}};
  graph.add(result);
  const Graph back = written(graph);
  EXPECT_EQ(back.name, graph.name);
  const Node& node = back.at(back.parameters()[0]);
  EXPECT_EQ(node.name, parameter.name);
  EXPECT_THAT(node.outputs[0].names, ElementsAre("x,y", "猫", "<&>"));
}

TEST_F(WriteIrTest, SharesEqualBytesAndAlignsBlobs) {
  const Tensor zeros(ElementType::i32, {32});
  const Graph back =
      written(constants({zeros, floats({1, 2}), Tensor(ElementType::f32, {4, 8}), Tensor(ElementType::u8, {0})}));
  EXPECT_EQ(fs::file_size(path("n.bin")), 128U + 8U);
  EXPECT_EQ(back.at(NodeId{0}).value.data(), back.at(NodeId{2}).value.data());
  EXPECT_TRUE(back.at(NodeId{1}).value.is_aligned());
  EXPECT_THAT(back.at(NodeId{1}).value.values<float>(), ElementsAre(1, 2));
  EXPECT_EQ(back.at(NodeId{3}).value.shape(), Shape{0});
}

TEST_F(WriteIrTest, OverwritesTheFilesThatItWasReadFrom) {
  write_ir(constants({floats({1, 2, 3})}), path());
  for (int i = 0; i < 2; ++i) write_ir(read_ir(path()), path());
  EXPECT_THAT(read_ir(path()).at(NodeId{0}).value.values<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(WriteIrTest, RefusesOtherEndingsAndFolders) {
  const Graph graph = constants({floats({1})});
  EXPECT_THAT(error_of([&] { write_ir(graph, path("n.bin")); }, ErrorCode::kInvalidArgument),
              HasSubstr("does not end in .xml"));
  EXPECT_THAT(error_of([&] { write_ir(graph, path("none/n.xml")); }, ErrorCode::kIo), HasSubstr("cannot write"));
}

// Case R18: denormals stay, what is too large becomes the largest, with a count; infinities and NaN stay.
TEST_F(WriteIrTest, CompressesToHalf) {
  const float inf = std::numeric_limits<float>::infinity();
  std::string warning;
  set_log_sink([&](LogLevel, std::string_view, std::string_view line) { warning = line; });
  write_ir(constants({floats({1.5F, 5.96e-8F, -1e-10F, 65504, 65519, 65520, -1e30F, inf, NAN})}), path(),
           {.compress_to_fp16 = true});
  set_log_sink({});
  EXPECT_THAT(warning, HasSubstr("2 constant values beyond the range of f16"));
  const std::string xml = read_file(path(), 100000, "XML");
  EXPECT_THAT(xml, HasSubstr("name=\"c0_compressed\""));
  EXPECT_THAT(xml, HasSubstr("<attribute name=\"decompression\" version=\"0\" />"));
  const MappedFile bin = map_file(path("n.bin"));
  ASSERT_EQ(bin.bytes.size(), 18U);
  const auto half_at = [&](std::size_t i) {
    return half_to_float(static_cast<std::uint16_t>(std::to_integer<unsigned>(bin.bytes[2 * i]) |
                                                    std::to_integer<unsigned>(bin.bytes[2 * i + 1]) << 8));
  };
  EXPECT_EQ(half_at(0), 1.5F);
  EXPECT_NEAR(half_at(1), 5.96e-8F, 1e-10F);
  EXPECT_EQ(half_at(2), 0.0F);
  EXPECT_EQ(half_at(3), 65504.0F);
  EXPECT_EQ(half_at(4), 65504.0F);
  EXPECT_EQ(half_at(5), 65504.0F);
  EXPECT_EQ(half_at(6), -65504.0F);
  EXPECT_EQ(half_at(7), inf);
  EXPECT_TRUE(std::isnan(half_at(8)));
}

}  // namespace
}  // namespace headrace
