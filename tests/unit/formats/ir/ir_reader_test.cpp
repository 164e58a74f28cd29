// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.hpp"
#include "unit/formats/ir/ir_text.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> names_of(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  for (const NodeId id : ids) names.push_back(graph.at(id).name);
  return names;
}

// x -> Squeeze -> result, as OpenVINO writes it.
IrText chain() {
  return IrText().parameter(0, "x", "1,3").op(1, "s", "Squeeze", 1).result(2, "r").edge(0, 0, 1, 0).edge(1, 1, 2, 0);
}

// A constant that goes straight to the Result.
Graph parse_constant(const std::string& type, const std::string& shape, const std::string& offset,
                     const std::string& size, const WeightsBlob& weights) {
  return IrText().constant(0, "c", type, shape, offset, size).result(1, "r").edge(0, 0, 1, 0).parse(weights);
}

std::string constant_error(const std::string& type, const std::string& shape, const std::string& offset,
                           const std::string& size, const WeightsBlob& weights) {
  return error_of([&] { parse_constant(type, shape, offset, size, weights); });
}

TEST(ParseIrTest, ReadsAChain) {
  const Graph graph = chain().parse();
  EXPECT_EQ(graph.name, "n");
  ASSERT_EQ(graph.nodes().size(), 3U);
  const Node& parameter = graph.at(graph.parameters().at(0));
  EXPECT_EQ(parameter.outputs.at(0).shape, (Shape{1, 3}));
  EXPECT_TRUE(parameter.outputs.at(0).is_resolved);
  const Node& squeeze = graph.at(graph.find("s"));
  EXPECT_EQ(squeeze.type, "Squeeze");
  EXPECT_FALSE(squeeze.outputs.at(0).is_resolved);
  EXPECT_THAT(squeeze.outputs.at(0).names, ElementsAre("s"));
  EXPECT_EQ(squeeze.inputs.at(0), (PortRef{parameter.id, 0}));
  EXPECT_EQ(graph.at(graph.results().at(0)).inputs.at(0), (PortRef{squeeze.id, 0}));
  verify(graph, "read");
}

// Case 32: the order of layers, edges and ids says nothing.
TEST(ParseIrTest, TakesLayersAndEdgesInAnyOrder) {
  const Graph graph = IrText()
                          .result(5, "r")
                          .op(739663408, "s2", "Squeeze", 1)
                          .parameter(9, "b", "1")
                          .op(1, "s1", "Squeeze", 1)
                          .parameter(0, "a", "1,1")
                          .result(4, "r2")
                          .edge(739663408, 1, 5, 0)
                          .edge(1, 1, 739663408, 0)
                          .edge(9, 0, 4, 0)
                          .edge(0, 0, 1, 0)
                          .parse();
  EXPECT_THAT(names_of(graph, graph.parameters()), ElementsAre("b", "a"));
  EXPECT_THAT(names_of(graph, graph.results()), ElementsAre("r", "r2"));
  EXPECT_THAT(names_of(graph, graph.topological_order()), ElementsAre("b", "a", "s1", "s2", "r", "r2"));
}

TEST(ParseIrTest, PositionOfAPortIsItsIndex) {
  const std::string concat =
      "<layer id='2' name='c' type='concat' version='opset1'><data axis='0'/><input><port id='7'/><port id='3'/>"
      "</input><output><port id='7' precision='FP32'/></output></layer>";
  const Graph graph = IrText()
                          .parameter(0, "a", "1")
                          .parameter(1, "b", "1")
                          .layer(concat)
                          .result(3, "r")
                          .edge(0, 0, 2, 3)
                          .edge(1, 0, 2, 7)
                          .edge(2, 7, 3, 0)
                          .parse();
  const Node& node = graph.at(graph.find("c"));
  EXPECT_EQ(node.type, "Concat");
  EXPECT_EQ(node.source_type, "concat");
  ASSERT_EQ(node.inputs.size(), 2U);
  EXPECT_EQ(graph.at(node.inputs[0]).name, "b");
  EXPECT_EQ(graph.at(node.inputs[1]).name, "a");
}

TEST(ParseIrTest, ReadsSeveralOutputsOfOneLayer) {
  const std::string split =
      "<layer id='2' name='s' type='Split' version='opset1'><data num_splits='2'/><input><port id='0'/><port id='1'/>"
      "</input><output><port id='2' names='p'/><port id='3' names='q'/></output></layer>";
  const Graph graph = IrText()
                          .parameter(0, "x", "2")
                          .constant(1, "axis", "i64", "", "0", "8")
                          .layer(split)
                          .result(3, "r")
                          .edge(0, 0, 2, 0)
                          .edge(1, 0, 2, 1)
                          .edge(2, 3, 3, 0)
                          .parse(make_blob(std::string(8, '\0')));
  EXPECT_EQ(graph.at(graph.results()[0]).inputs[0].port, 1);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "q");
}

TEST(ParseIrTest, KeepsTheOpsetOfEachLayer) {
  const Graph graph = IrText()
                          .parameter(0, "x", "1")
                          .op(1, "g", "Squeeze", 1, "", "opset15")
                          .result(2, "r")
                          .edge(0, 0, 1, 0)
                          .edge(1, 1, 2, 0)
                          .parse();
  EXPECT_EQ(graph.at(graph.find("g")).opset, 15);
}

TEST(ParseIrTest, ReadsEscapedNames) {
  const std::string parameter =
      "<layer id='0' name='&lt;&quot;x &amp; 猫&quot;&gt;' type='Parameter' version='opset1'>"
      "<data shape='2' element_type='f32'/><output><port id='0' precision='FP32' names='b,x\\,y,,c'/></output></layer>";
  const std::string result =
      "<layer id='1' name='r' type='Result' version='opset1' output_names='b,own'><input><port "
      "id='0'/></input></layer>";
  const Graph graph = IrText().layer(parameter).layer(result).edge(0, 0, 1, 0).parse();
  const Node& node = graph.at(graph.parameters()[0]);
  EXPECT_EQ(node.name, "<\"x & 猫\">");
  EXPECT_THAT(node.outputs[0].names, ElementsAre("b", "x,y", "c", "own"));
}

// Report #12: two outputs of one tensor keep their names, through the writer too.
TEST(ParseIrTest, OutputsOfOneTensorKeepTheirNames) {
  const std::string parameter =
      "<layer id='0' name='x' type='Parameter' version='opset1'><data shape='2' element_type='f32'/>"
      "<output><port id='0' precision='FP32' names='r,r2'/></output></layer>";
  const auto result = [](const std::string& id, const std::string& name) {
    return "<layer id='" + id + "' name='result" + id + "' type='Result' version='opset1' output_names='" + name +
           "'><input><port id='0'/></input></layer>";
  };
  const Graph graph = IrText()
                          .layer(parameter)
                          .layer(result("1", "r"))
                          .layer(result("2", "r2"))
                          .edge(0, 0, 1, 0)
                          .edge(0, 0, 2, 0)
                          .parse();
  EXPECT_EQ(output_name(graph, graph.results()[0]), "r");
  EXPECT_EQ(output_name(graph, graph.results()[1]), "r2");
}

TEST(ParseIrTest, ReadsDynamicShapesOfParameters) {
  for (const char* text : {"?,3,8..16,2..", "...", "", "-1"}) {
    const Graph graph = IrText().parameter(0, "x", text).result(1, "r").edge(0, 0, 1, 0).parse();
    const Node& node = graph.at(graph.parameters()[0]);
    EXPECT_EQ(to_string(node.declared_shape), to_string(parse_partial_shape(text)));
    EXPECT_EQ(node.outputs[0].is_resolved, std::string(text).empty());
  }
}

TEST(ParseIrTest, KeepsUnusedParametersAndDropsDeadLayers) {
  const Graph graph = chain()
                          .parameter(7, "unused", "4")
                          .constant(8, "dead", "u4", "2", "0", "999")
                          .op(9, "odd", "Nonsense", 0)
                          .parse();
  EXPECT_THAT(names_of(graph, graph.parameters()), ElementsAre("x", "unused"));
  EXPECT_FALSE(graph.find("dead").is_valid());
  EXPECT_FALSE(graph.find("odd").is_valid());
}

TEST(ParseIrTest, DropsOptionalInputsAtTheEnd) {
  const Graph graph =
      IrText().parameter(0, "x", "1").op(1, "s", "Squeeze", 2).result(2, "r").edge(0, 0, 1, 0).edge(1, 2, 2, 0).parse();
  EXPECT_EQ(graph.at(graph.find("s")).inputs.size(), 1U);
}

TEST(ParseIrTest, IgnoresRtInfoCommentsAndUnknownElements) {
  std::string xml = chain().xml();
  xml.insert(xml.find("<data"),
             "<!-- c --><rt_info><attribute name='fused_names' version='0' value='a,b'/></rt_info><x/>");
  xml.insert(xml.find("</net>"),
             "<meta_data><cli_parameters/></meta_data><rt_info><layers><layer/></layers></rt_info>");
  EXPECT_EQ(parse_ir(xml, {}).nodes().size(), 3U);
}

TEST(ParseIrTest, ReadsConstants) {
  const WeightsBlob blob = make_blob(std::string("x\0\0\x80\x3f\0\0\0\xc0\x07", 10));
  const Graph graph = parse_constant("f32", "1, 2", "1", "8", blob);
  const Node& node = graph.at(graph.find("c"));
  // Case R22: little-endian bytes, at an odd offset.
  EXPECT_THAT(node.value.values<float>(), ElementsAre(1.0F, -2.0F));
  EXPECT_EQ(node.outputs[0].shape, (Shape{1, 2}));
  const Tensor flags = parse_constant("boolean", "3", "7", "3", blob).at(NodeId{0}).value;
  EXPECT_THAT(flags.values<bool>(), ElementsAre(false, true, true));
  EXPECT_EQ(parse_constant("f16", "", "4", "2", blob).at(NodeId{0}).value.shape(), Shape{});
  EXPECT_EQ(parse_constant("i8", "0,4", "0", "0", blob).at(NodeId{0}).value.count(), 0);
  // A size beyond what the shape needs is fine.
  EXPECT_EQ(parse_constant("u8", "2", "1", "9", blob).at(NodeId{0}).value.count(), 2);
}

TEST(ParseIrTest, SharesTheBlobWhereAlignmentHolds) {
  for (const std::size_t misalignment : {0U, 4U, 2U}) {
    const WeightsBlob blob = make_blob(std::string(16, '\1'), misalignment);
    const Tensor value = parse_constant("f32", "2", "4", "8", blob).at(NodeId{0}).value;
    EXPECT_EQ(value.data() == blob.bytes.data() + 4, misalignment % 4 == 0) << misalignment;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.data()) % 4, 0U);
  }
}

TEST(ParseIrTest, ReadsEarlyV10Constants) {
  const std::string constant =
      "<layer id='0' name='Begin' precision='I64' type='Const' version='opset1'><data offset='0' size='16'/>"
      "<output><port id='1'><dim>2</dim></port></output></layer>";
  const Graph graph =
      IrText("10").layer(constant).result(1, "r").edge(0, 1, 1, 0).parse(make_blob(std::string(16, '\0')));
  EXPECT_EQ(graph.at(NodeId{0}).value.type(), ElementType::i64);
  EXPECT_EQ(graph.at(NodeId{0}).value.shape(), Shape{2});
}

// Case 21: files that are cut, wrap round or lie.
TEST(ParseIrTest, RefusesConstantsOutsideTheWeights) {
  const WeightsBlob blob = make_blob(std::string(16, '\0'));
  EXPECT_THAT(constant_error("f32", "2,2", "8", "16", blob),
              HasSubstr("layer 'c' (Const): needs 16 bytes at offset 8 of 'net.bin', the file has 16 bytes"));
  EXPECT_THAT(constant_error("f32", "2,2", "18446744073709551608", "16", blob),
              HasSubstr("offset 18446744073709551608"));
  EXPECT_THAT(constant_error("f32", "2,2", "0", "18446744073709551615", blob), HasSubstr("18446744073709551615 bytes"));
  EXPECT_THAT(constant_error("f32", "2,2", "0", "12", blob), HasSubstr("size is 12, but shape [2,2] of f32 has 16"));
  EXPECT_THAT(constant_error("f32", "2,2", "0", "0", blob), HasSubstr("size is 0"));
  EXPECT_THAT(constant_error("f32", "2,2", "99999999999999999999", "16", blob), HasSubstr("attribute 'offset'"));
  EXPECT_THAT(constant_error("f32", "2,2", "-8", "16", blob), HasSubstr("attribute 'offset' is '-8'"));
  EXPECT_THAT(constant_error("f32", "2,?", "0", "16", blob), HasSubstr("dynamic shape [2,?]"));
  EXPECT_THAT(constant_error("f32", "2,x", "0", "16", blob), HasSubstr("'x' is not a dimension"));
  for (const char* shape :
       {"4294967296,4294967296", "9223372036854775807", "0,9223372036854775807,9223372036854775807"}) {
    EXPECT_THAT(constant_error("f32", shape, "0", "16", blob), HasSubstr("more than 2^63 bytes")) << shape;
  }
  std::string ranks = "1";
  for (int i = 0; i < 40; ++i) ranks += ",1";
  EXPECT_THAT(constant_error("f32", ranks, "0", "16", blob), HasSubstr("41 dimensions, the limit is 32"));
}

TEST(ParseIrTest, RefusesMissingAttributes) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string xml = IrText().constant(0, "c", "f32", "1", "0", "4").result(1, "r").edge(0, 0, 1, 0).xml();
    const auto at = xml.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    xml.replace(at, from.size(), to);
    return error_of([&] { parse_ir(xml, make_blob("1234")); });
  };
  EXPECT_EQ(error("offset='0'", "offset='0'"), "no error");
  EXPECT_THAT(error("offset='0'", ""), AllOf(HasSubstr("layer 'c' (Const)"), HasSubstr("'offset' is missing")));
  EXPECT_THAT(error("size='4'", ""), HasSubstr("'size' is missing"));
  EXPECT_THAT(error("version='opset1'", ""), HasSubstr("<layer> lacks the attribute 'version'"));
  EXPECT_THAT(error("type='Const'", ""), HasSubstr("lacks the attribute 'type'"));
  EXPECT_THAT(error("name='c'", ""), HasSubstr("lacks the attribute 'name'"));
  EXPECT_THAT(error("id='0'", ""), HasSubstr("lacks the attribute 'id'"));
  EXPECT_THAT(error("port id='0'", "port"), HasSubstr("<port> lacks the attribute 'id'"));
  EXPECT_THAT(error("from-port='0'", ""), HasSubstr("<edge> lacks the attribute 'from-port'"));
  EXPECT_THAT(error("id='0'", "id='0x'"), HasSubstr("is '0x', expected an integer"));
  // Type and shape missing and nowhere else to be found.
  const std::string bare =
      "<layer id='0' name='c' type='Const' version='opset1'><data offset='0' size='4'/>"
      "<output><port id='0'/></output></layer>";
  EXPECT_THAT(error_of([&] { IrText().layer(bare).result(1, "r").edge(0, 0, 1, 0).parse(make_blob("1234")); }),
              HasSubstr("'element_type' is missing"));
}

TEST(ParseIrTest, RefusesWrongEdges) {
  EXPECT_THAT(error_of([] { chain().edge(5, 0, 1, 0).parse(); }),
              AllOf(HasSubstr("edge from layer 5 port 0 to layer 1 port 0"), HasSubstr("no layer has the id 5")));
  EXPECT_THAT(error_of([] { chain().edge(0, 0, 1, 9).parse(); }),
              HasSubstr("layer 's' (Squeeze) has no input port with the id 9"));
  EXPECT_THAT(error_of([] { chain().edge(0, 4, 1, 0).parse(); }),
              HasSubstr("layer 'x' (Parameter) has no output port with the id 4"));
  EXPECT_THAT(error_of([] { chain().edge(0, 0, 1, 0).parse(); }), HasSubstr("another edge already"));
  EXPECT_THAT(error_of([] { chain().result(2, "twin").parse(); }),
              HasSubstr("layer 'r' (Result) and layer 'twin' (Result) have the same id 2"));
  // An input in the middle that nothing feeds.
  EXPECT_THAT(error_of([] {
                IrText()
                    .parameter(0, "x", "1")
                    .op(1, "c", "Concat", 2, "axis='0'")
                    .result(2, "r")
                    .edge(0, 0, 1, 1)
                    .edge(1, 2, 2, 0)
                    .parse();
              }),
              HasSubstr("layer 'c' (Concat): no edge feeds input 0"));
  EXPECT_THAT(error_of([] { IrText().parameter(0, "x", "1").result(1, "r").parse(); }),
              HasSubstr("layer 'r' (Result) has 0 inputs"));
  EXPECT_THAT(error_of([] { IrText().parameter(0, "x", "1").parse(); }), HasSubstr("no Result layer"));
  // Found by the fuzzer: a Result with an output port, and a Result behind it.
  EXPECT_THAT(error_of([] {
                IrText()
                    .parameter(0, "x", "1")
                    .layer(
                        "<layer id='1' name='k' type='Result' version='opset1'><input><port id='0'/></input>"
                        "<output><port id='1'/></output></layer>")
                    .result(2, "r")
                    .edge(0, 0, 1, 0)
                    .edge(1, 1, 2, 0)
                    .parse();
              }),
              HasSubstr("layer 'r' (Result) reads layer 'k' (Result), which has no output"));
  const std::string twin_ports =
      "<layer id='3' name='t' type='Squeeze' version='opset1'><input><port id='0'/><port id='0'/></input></layer>";
  EXPECT_THAT(error_of([&] { chain().layer(twin_ports).parse(); }), HasSubstr("two ports with the id 0"));
}

TEST(ParseIrTest, NamesTheLayersOfACycle) {
  const std::string error = error_of([] {
    IrText()
        .op(1, "s1", "Squeeze", 1)
        .op(2, "s2", "Squeeze", 1)
        .result(3, "r")
        .edge(2, 1, 1, 0)
        .edge(1, 1, 2, 0)
        .edge(2, 1, 3, 0)
        .parse();
  });
  EXPECT_THAT(error, AllOf(HasSubstr("cycle"), HasSubstr("'s1', 's2'")));
}

TEST(ParseIrTest, ListsEverythingUnsupportedAtOnce) {
  const std::string error = error_of(
      [] {
        IrText()
            .parameter(0, "x", "1")
            .op(1, "a", "Squeze", 1, "", "opset8")
            .op(2, "b", "Squeze", 1, "", "opset8")
            .op(3, "c", "Squeeze", 1, "", "opset99")
            .op(4, "d", "ReadValue", 1)
            .constant(5, "e", "nf4", "1", "0", "8")
            .op(6, "g", "Concat", 2, "axis='0'")
            .result(7, "r")
            .edge(0, 0, 1, 0)
            .edge(1, 1, 2, 0)
            .edge(2, 1, 3, 0)
            .edge(3, 1, 4, 0)
            .edge(4, 1, 6, 0)
            .edge(5, 0, 6, 1)
            .edge(6, 2, 7, 0)
            .parse();
      },
      ErrorCode::kUnsupported);
  EXPECT_THAT(error, HasSubstr("Squeze opset8 (2 layers, first 'a'; near: Squeeze"));
  EXPECT_THAT(error, HasSubstr("Squeeze opset99 (layer 'c')"));
  EXPECT_THAT(error, HasSubstr("ReadValue opset1 (layer 'd'"));
  EXPECT_THAT(error, HasSubstr("element type nf4 (layer 'e')"));
  EXPECT_THAT(error, Not(HasSubstr("\n")));
}

TEST(ParseIrTest, RefusesElementTypesByName) {
  for (const char* type : {"u4", "i4", "nf4", "f8e4m3", "string", "u1"}) {
    const std::string error =
        error_of([&] { parse_constant(type, "1", "0", "8", make_blob("12345678")); }, ErrorCode::kUnsupported);
    EXPECT_THAT(error, HasSubstr("element type " + std::string(type) + " (layer 'c')"));
  }
}

TEST(ParseIrTest, NamesTheLayerOfABadAttribute) {
  EXPECT_THAT(error_of([] {
                IrText()
                    .parameter(0, "x", "1")
                    .op(1, "c", "Concat", 1, "axis='north'")
                    .result(2, "r")
                    .edge(0, 0, 1, 0)
                    .edge(1, 1, 2, 0)
                    .parse();
              }),
              AllOf(HasSubstr("layer 'c' (Concat): "), HasSubstr("'axis' is 'north'")));
}

TEST(ParseIrTest, RefusesOldAndUnknownVersions) {
  for (int version = 2; version <= 7; ++version) {
    EXPECT_THAT(error_of([&] { IrText(std::to_string(version)).parse(); }, ErrorCode::kUnsupported),
                AllOf(HasSubstr("IR v" + std::to_string(version)), HasSubstr("convert")));
  }
  EXPECT_THAT(error_of([] { IrText("12").parse(); }, ErrorCode::kUnsupported), HasSubstr("IR v12"));
  EXPECT_THAT(error_of([] { IrText("x").parse(); }), HasSubstr("'version' of <net> is 'x'"));
}

TEST(ParseIrTest, RefusesWhatIsNoIr) {
  const auto error = [](const std::string& text) { return error_of([&] { parse_ir(text, {}); }); };
  EXPECT_THAT(error(""), HasSubstr("XML is damaged"));
  EXPECT_THAT(error("\n\n<net"), HasSubstr("damaged at line 3"));
  EXPECT_THAT(error("<html><body/></html>"), HasSubstr("the root element is <html>, expected <net>"));
  EXPECT_THAT(error("<net name='x'/>"), HasSubstr("lacks the attribute 'version'"));
  EXPECT_THAT(error("<net name='x' version='11'/>"), HasSubstr("no layers"));
  const std::string whole = chain().xml();
  for (std::size_t size = 0; size < whole.size() - 1; ++size) {
    EXPECT_NE(error(whole.substr(0, size)), "no error") << whole.substr(0, size);
  }
}

TEST(ParseIrTest, RefusesDeepNesting) {
  std::string open;
  std::string close;
  for (int i = 0; i < 10000; ++i) {
    open += "<a>";
    close += "</a>";
  }
  EXPECT_THAT(error_of([&] { parse_ir("<net version='11'>" + open + close + "</net>", {}); }),
              HasSubstr("nested deeper than 256"));
  EXPECT_THAT(error_of([&] { parse_ir("<net version='11'>" + open, {}); }), HasSubstr("damaged"));
}

// Files on disk: paths, missing and wrong weights, size limits.
class ReadIrTest : public ::testing::Test {
 protected:
  ReadIrTest() : folder_(fs::path(::testing::TempDir()) / ("headrace ir 'q' 猫 " + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    write_file(path("n.xml"),
               {as_bytes(IrText().constant(0, "c", "f32", "1", "0", "4").result(1, "r").edge(0, 0, 1, 0).xml())});
    write_file(path("n.bin"), {as_bytes("\x01\x02\x03\x04")});
  }
  ~ReadIrTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(ReadIrTest, FindsTheWeightsBesideTheFile) {
  EXPECT_EQ(read_ir(path("n.xml")).nodes().size(), 2U);
  fs::rename(path("n.bin"), path("other weights"));
  EXPECT_EQ(read_ir(path("n.xml"), path("other weights")).nodes().size(), 2U);
}

TEST_F(ReadIrTest, ConstantsOutliveTheFile) {
  const Graph graph = read_ir(path("n.xml"));
  fs::remove(path("n.bin"));
  EXPECT_EQ(static_cast<int>(graph.at(NodeId{0}).value.data()[3]), 4);
}

TEST_F(ReadIrTest, ReportsMissingCutAndWrongWeights) {
  EXPECT_THAT(error_of([&] { read_ir(path("n.xml"), path("none.bin")); }, ErrorCode::kIo),
              HasSubstr("none.bin': No such file"));
  EXPECT_THAT(error_of([&] { read_ir(path("n.xml"), path("n.xml")); }),
              HasSubstr("is XML, expected the network's .bin"));
  write_file(path("n.bin"), {as_bytes("\x01\x02\x03")});
  EXPECT_THAT(
      error_of([&] { read_ir(path("n.xml")); }),
      AllOf(HasSubstr("n.xml': layer 'c' (Const): needs 4 bytes at offset 0 of"), HasSubstr("the file has 3 bytes")));
  fs::remove(path("n.bin"));
  EXPECT_THAT(error_of([&] { read_ir(path("n.xml")); }),
              AllOf(HasSubstr("layer 'c' (Const): needs 4 bytes at offset 0"), HasSubstr("cannot open")));
  write_file(path("n.xml"), {as_bytes(chain().xml())});
  EXPECT_EQ(read_ir(path("n.xml")).nodes().size(), 3U);  // nothing needs weights
}

TEST_F(ReadIrTest, ReportsUnreadableFiles) {
  EXPECT_THAT(error_of([&] { read_ir(path("none.xml")); }, ErrorCode::kIo), HasSubstr("cannot open"));
  EXPECT_THAT(error_of([&] { read_ir(folder_.string()); }, ErrorCode::kIo), HasSubstr("not a regular file"));
  fs::resize_file(path("n.xml"), std::uintmax_t{2} << 30);  // sparse
  EXPECT_THAT(error_of([&] { read_ir(path("n.xml")); }, ErrorCode::kIo),
              HasSubstr("XML of 2147483648 bytes, the limit is 268435456"));
}

}  // namespace
}  // namespace headrace
