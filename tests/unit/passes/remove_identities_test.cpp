// SPDX-License-Identifier: Apache-2.0
#include "passes/remove_identities.hpp"

#include <gtest/gtest.h>

#include "passes/name_outputs.hpp"
#include "test_graph.hpp"

namespace headrace::testing {
namespace {

PortRef convert_to_f32(GraphBuilder& builder, const std::string& name, PortRef source) {
  return builder.op("Convert", name, {source}, {{"destination_type", "f32"}});
}

TEST(RemoveIdentitiesTest, NodesThatOnlyPassATensorGo) {
  GraphBuilder builder;
  PortRef t = builder.op("ReLU", "in", {builder.parameter("x", "2,3,4")});
  t = convert_to_f32(builder, "convert", t);
  t = builder.op("Transpose", "transpose", {t, builder.ints("order", {0, 1, 2})});
  t = builder.op("Reshape", "reshape", {t, builder.ints("same", {2, 3, 4})}, {{"special_zero", "false"}});
  t = builder.op("Concat", "concat", {t}, {{"axis", "1"}});
  t = builder.op("Tile", "tile", {t, builder.ints("once", {1, 1, 1})});
  t = builder.op("Broadcast", "broadcast", {t, builder.ints("shape", {2, 3, 4})}, {{"mode", "numpy"}}, 3);
  builder.result(builder.op("ReLU", "out", {t}));
  const Graph graph = expect_same_meaning(builder.graph, remove_identities);
  EXPECT_EQ(graph.nodes().size(), 4U);  // x, in, out, result
}

TEST(RemoveIdentitiesTest, NodesThatChangeSomethingStay) {
  GraphBuilder builder;
  const PortRef x = builder.op("ReLU", "in", {builder.parameter("x", "3,3")});
  builder.result(builder.op("Transpose", "t", {x, builder.ints("order", {1, 0})}));  // same shape, other order
  builder.result(builder.op("Pad", "p", {x, builder.ints("b", {1, 0}), builder.ints("e", {-1, 0})},
                            {{"pad_mode", "constant"}}, 12));
  const Graph graph = expect_same_meaning(builder.graph, remove_identities);
  EXPECT_EQ(count_type(graph, "Transpose"), 1U);
  EXPECT_EQ(count_type(graph, "Pad"), 1U);
}

TEST(RemoveIdentitiesTest, ReshapesMerge) {
  GraphBuilder builder;
  PortRef t = builder.op("ReLU", "in", {builder.parameter("x", "2,3,4")});
  t = builder.op("Reshape", "a", {t, builder.ints("s", {6, 4})}, {{"special_zero", "false"}});
  t = builder.op("Unsqueeze", "b", {t, builder.ints("axes", {0})});
  t = builder.op("Reshape", "c", {t, builder.ints("s2", {4, -1})}, {{"special_zero", "false"}});
  builder.result(builder.op("ReLU", "out", {t}));
  const Graph graph = expect_same_meaning(builder.graph, remove_identities);
  EXPECT_EQ(count_type(graph, "Reshape"), 1U);
  EXPECT_EQ(count_type(graph, "Unsqueeze"), 0U);
}

TEST(RemoveIdentitiesTest, TransposesMergeOrCancel) {
  for (const bool is_inverse : {false, true}) {
    GraphBuilder builder;
    PortRef t = builder.op("ReLU", "in", {builder.parameter("x", "2,3,4")});
    t = builder.op("Transpose", "a", {t, builder.ints("p", {1, 2, 0})});
    t = builder.op(
        "Transpose", "b",
        {t, builder.ints("q", is_inverse ? std::vector<std::int64_t>{2, 0, 1} : std::vector<std::int64_t>{1, 0, 2})});
    builder.result(builder.op("ReLU", "out", {t}));
    const Graph graph = expect_same_meaning(builder.graph, remove_identities);
    EXPECT_EQ(count_type(graph, "Transpose"), is_inverse ? 0U : 1U);
  }
}

// public-reports.md, case 12: r, Identity(r), the input and a constant as outputs keep six names in order.
TEST(RemoveIdentitiesTest, NetworkOutputsKeepTheirNames) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2");
  const PortRef r = builder.op("ReLU", "r", {x});
  const PortRef seven = builder.floats("seven", {1}, {7});
  builder.result(r, "r");
  builder.result(convert_to_f32(builder, "r2", r));  // no tensor name: known by its layer
  builder.result(builder.op("Multiply", "mul", {r, builder.floats("two", {1}, {2})}));
  builder.result(builder.op("Negative", "neg", {r}));
  builder.result(convert_to_f32(builder, "x2", x), "x_again");
  builder.result(x);
  builder.result(convert_to_f32(builder, "const_copy", seven), "seven_again");
  builder.result(seven);
  name_outputs(builder.graph);
  const Graph graph = expect_same_meaning(builder.graph, remove_identities);
  std::vector<std::string> names;
  for (const NodeId id : graph.results()) names.push_back(output_name(graph, id));
  EXPECT_EQ(names, (std::vector<std::string>{"r", "r2", "mul", "neg", "x_again", "x", "seven_again", "seven"}));
}

TEST(RemoveIdentitiesTest, OutputNameComesFirstAfterBypass) {
  GraphBuilder builder;
  const PortRef r = builder.op("ReLU", "r", {builder.parameter("x", "2")});
  builder.graph.at(r.node).outputs[0].names = {"inner"};
  builder.result(convert_to_f32(builder, "id", r), "out");
  const Graph graph = expect_same_meaning(builder.graph, remove_identities);
  EXPECT_EQ(count_type(graph, "Convert"), 0U);
  EXPECT_EQ(output_name(graph, graph.results()[0]), "out");
}

}  // namespace
}  // namespace headrace::testing
