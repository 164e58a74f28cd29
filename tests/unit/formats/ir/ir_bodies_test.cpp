// SPDX-License-Identifier: Apache-2.0
// Graphs inside layers: reading them, and refusing damaged ones.
#include "formats/ir/ir_bodies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/ir/ir_text.hpp"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string body_layer(int id, const std::string& name, const std::string& type) {
  return "<layer id='" + std::to_string(id) + "' name='" + name + "' type='" + type + "' version='opset1'>" +
         (type == "Parameter" ? "<data shape='2' element_type='f32'/><output><port id='0'/></output>" : "") +
         (type == "Result" ? "<input><port id='0'/></input>" : "") +
         (type != "Parameter" && type != "Result" ? "<input><port id='0'/></input><output><port id='1'/></output>"
                                                  : "") +
         "</layer>";
}

// Parameter 5 -> `type` 3 -> Result 9.
std::string body(const std::string& element, const std::string& type) {
  return "<" + element + "><layers>" + body_layer(9, "out", "Result") + body_layer(5, "in", "Parameter") +
         body_layer(3, "inner", type) +
         "</layers><edges><edge from-layer='5' from-port='0' to-layer='3' to-port='0'/>"
         "<edge from-layer='3' from-port='1' to-layer='9' to-port='0'/></edges></" +
         element + ">";
}

std::string port_map(const std::string& element, const std::string& input, const std::string& output,
                     const std::string& more = "") {
  return "<" + element + "><input external_port_id='" + input + "' internal_layer_id='5'/><output external_port_id='" +
         output + "' internal_layer_id='9'/>" + more + "</" + element + ">";
}

// x [2] -> If by c -> result.
IrText if_network(const std::string& inside) {
  return IrText()
      .op(7, "c", "Parameter", 0, "shape='' element_type='boolean'")
      .parameter(0, "x", "2")
      .layer(
          "<layer id='1' name='branch' type='If' version='opset8'><input><port id='0'/><port id='1'/></input>"
          "<output><port id='2' precision='FP32'/></output>" +
          inside + "</layer>")
      .result(2, "r")
      .edge(7, 0, 1, 0)
      .edge(0, 0, 1, 1)
      .edge(1, 2, 2, 0);
}

std::string two_branches(const std::string& then_type, const std::string& else_type) {
  return port_map("then_port_map", "1", "2") + port_map("else_port_map", "1", "2") + body("then_body", then_type) +
         body("else_body", else_type);
}

TEST(IrBodiesTest, JoinsTheBranchesOfAnIf) {
  const Graph graph = if_network(two_branches("ReLU", "Exp")).parse();
  verify(graph, "read");
  const Node& node = graph.at(graph.find("branch"));
  ASSERT_EQ(node.bodies.size(), 2U);
  for (const Body& branch : node.bodies) {
    ASSERT_EQ(branch.inputs.size(), 1U);
    EXPECT_EQ(branch.inputs[0].input, 1U);
    EXPECT_EQ(branch.inputs[0].parameter, 0U);
    ASSERT_EQ(branch.outputs.size(), 1U);
    EXPECT_EQ(branch.outputs[0].output, 0U);
    EXPECT_EQ(branch.outputs[0].result, 0U);
  }
  EXPECT_TRUE(node.bodies[0].graph->find("inner").is_valid());
  EXPECT_EQ(node.bodies[1].graph->at(node.bodies[1].graph->find("inner")).type, "Exp");
  EXPECT_FALSE(graph.find("inner").is_valid()) << "layers of bodies are not the network's";
}

TEST(IrBodiesTest, ReadsTheMapsOfALoop) {
  const std::string inside =
      "<port_map><input external_port_id='1' internal_layer_id='5' axis='1' start='-1' end='0' stride='-2' "
      "part_size='2'/><output external_port_id='2' internal_layer_id='9' axis='0'/>"
      "<output external_port_id='-1' internal_layer_id='9' purpose='execution_condition'/></port_map>"
      "<back_edges><edge from-layer='9' to-layer='5'/></back_edges>" +
      body("body", "ReLU");
  const Graph graph = if_network(inside).parse();
  const Body& joined = graph.at(graph.find("branch")).bodies.at(0);
  EXPECT_EQ(joined.inputs.at(0).slice, (BodySlice{1, -1, 0, -2, 2}));
  EXPECT_EQ(joined.outputs.at(0).slice, BodySlice{});
  EXPECT_EQ(joined.condition_result, 0U);
  EXPECT_EQ(joined.iteration_parameter, std::nullopt);
  ASSERT_EQ(joined.back_edges.size(), 1U);
}

TEST(IrBodiesTest, RefusesMapsThatDoNotFit) {
  const std::string bodies = body("then_body", "ReLU") + body("else_body", "ReLU");
  const auto error = [&](const std::string& then_map) {
    return error_of([&] { if_network(then_map + port_map("else_port_map", "1", "2") + bodies).parse(); });
  };
  EXPECT_THAT(error(port_map("then_port_map", "4", "2")),
              AllOf(HasSubstr("layer 'branch' (If)"), HasSubstr("input port 4")));
  EXPECT_THAT(error(port_map("then_port_map", "1", "0")), HasSubstr("output port 0"));
  EXPECT_THAT(error(port_map("then_port_map", "1", "2", "<input external_port_id='1' internal_layer_id='9'/>")),
              HasSubstr("layer 9, which is no Parameter"));
  EXPECT_THAT(error(port_map("then_port_map", "1", "2", "<output external_port_id='2' internal_layer_id='77'/>")),
              HasSubstr("layer 77, which is no Result"));
  EXPECT_THAT(error(port_map("then_port_map", "1", "2", "<input external_port_id='1' internal_layer_id='5'/>")),
              HasSubstr("'in' is fed 2 times"));
  EXPECT_THAT(error(port_map("then_port_map", "1", "2", "<output external_port_id='2' internal_layer_id='9'/>")),
              HasSubstr("each output of the layer once"));
  EXPECT_THAT(error(""), HasSubstr("'in' is fed 0 times"));
  EXPECT_THAT(error(port_map("then_port_map", "one", "2")), HasSubstr("'external_port_id' is 'one'"));
}

TEST(IrBodiesTest, NamesTheUnsupportedLayerInside) {
  const std::string error =
      error_of([] { if_network(two_branches("ReLU", "Teleport")).parse(); }, ErrorCode::kUnsupported);
  EXPECT_THAT(error, AllOf(HasSubstr("layer 'branch'"), HasSubstr("Teleport opset1"), Not(HasSubstr("\n"))));
}

TEST(IrBodiesTest, RefusesEndlessNesting) {
  std::string inside = two_branches("ReLU", "ReLU");
  const std::string start =
      "<layer id='1' name='deep' type='If' version='opset8'><input><port id='0'/></input><output><port "
      "id='1'/></output>";
  for (int depth = 0; depth < 12; ++depth) {
    inside = "<then_body><layers>" + start + inside + "</layer></layers></then_body>";
  }
  EXPECT_THAT(error_of([&] { if_network(inside).parse(); }, ErrorCode::kUnsupported), HasSubstr("deeper than 8"));
}

}  // namespace
}  // namespace headrace
