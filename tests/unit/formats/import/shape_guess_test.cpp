// SPDX-License-Identifier: Apache-2.0
#include "formats/import/shape_guess.hpp"

#include <gtest/gtest.h>

#include "formats/import/import_builder.hpp"

namespace headrace::detail {
namespace {

Tensor ints(const std::vector<std::int64_t>& values) {
  return make_i64_tensor({static_cast<std::int64_t>(values.size())}, values);
}

class ShapeGuessTest : public testing::Test {
 protected:
  PortRef parameter(const std::string& name, std::string_view shape, ElementType type = ElementType::f32) {
    const PortRef ref = builder.add_parameter(name, type, parse_partial_shape(shape));
    builder.add_knowledge(ref, type, parse_partial_shape(shape), {});
    return ref;
  }

  PortRef constant(const std::vector<std::int64_t>& values) { return builder.add_constant(ints(values)); }

  // The rank, and which sizes are the same whatever the unknown ones are; "?" for the others.
  std::string shape_of(PortRef ref) const {
    const KnownTensor& known = builder.known(ref);
    const auto& [first, second] = known.trials;
    if (!first.shape || !second.shape || first.shape->size() != second.shape->size()) return "unknown";
    std::string text;
    for (std::size_t i = 0; i < first.shape->size(); ++i) {
      const bool is_known = (*first.shape)[i] == (*second.shape)[i];
      text += (i == 0 ? "" : ",") + (is_known ? std::to_string((*first.shape)[i]) : "?");
    }
    return text;
  }

  Graph graph;
  ImportBuilder builder{graph};
};

TEST_F(ShapeGuessTest, LayersWhoseCountOnlyARunTells) {
  const PortRef x = parameter("x", "3,4,5");
  const PortRef places = builder.add("NonZero", 3, {x}, {{"output_type", "i64"}});
  EXPECT_EQ(shape_of(places), "3,?");
  EXPECT_EQ(builder.known(places).type, ElementType::i64);
  const PortRef boxes = parameter("boxes", "1,20,4");
  const PortRef scores = parameter("scores", "1,2,20");
  const PortRef chosen = builder.add("NonMaxSuppression", 9, {boxes, scores, constant({5})},
                                     {{"box_encoding", "corner"}, {"output_type", "i32"}}, 3);
  EXPECT_EQ(shape_of(chosen), "?,3");
  EXPECT_EQ(builder.known(chosen).type, ElementType::i32);
  EXPECT_EQ(builder.known({chosen.node, 1}).type, ElementType::f32);
  EXPECT_EQ(shape_of({chosen.node, 2}), "1");
  // What follows is inferred as ever.
  const PortRef columns = builder.add("Gather", 8, {chosen, constant({2}), builder.add_constant(ints({1}))});
  EXPECT_EQ(shape_of(columns), "?,1");
  const PortRef picked = builder.add("Transpose", 1, {places, constant({1, 0})});
  EXPECT_EQ(shape_of(picked), "?,3");
}

TEST_F(ShapeGuessTest, TargetsThatAreNotKnown) {
  const PortRef x = parameter("x", "3,4");
  const PortRef target = parameter("target", "3", ElementType::i64);
  EXPECT_EQ(shape_of(builder.add("Reshape", 1, {x, target}, {{"special_zero", "true"}})), "?,?,?");
  EXPECT_EQ(shape_of(builder.add("Broadcast", 3, {x, target}, {{"mode", "numpy"}})), "?,?,?");
  EXPECT_EQ(shape_of(builder.add("Tile", 1, {x, target})), "?,?,?");
  const PortRef pads = parameter("pads", "2", ElementType::i64);
  EXPECT_EQ(shape_of(builder.add("Pad", 1, {x, pads, pads}, {{"pad_mode", "edge"}})), "?,?");
}

// A picture whose height has to be 48 while it is tried with others.
TEST_F(ShapeGuessTest, TrialNumbersThatDoNotFit) {
  const PortRef x = parameter("x", "?,8,?,?");
  const PortRef pixels = builder.add("Reshape", 1, {x, constant({0, 8, 48, -1})}, {{"special_zero", "true"}});
  EXPECT_EQ(shape_of(pixels).substr(0, 7), "?,8,48,");
  EXPECT_EQ(shape_of(builder.add("Squeeze", 1, {x, constant({2})})), "?,8,?");
  EXPECT_EQ(builder.known(pixels).type, ElementType::f32);
}

TEST_F(ShapeGuessTest, PartsThatDoNotFitAreJoinedByRank) {
  const PortRef a = parameter("a", "2,3,7");
  const PortRef b = parameter("b", "2,4,9");
  EXPECT_EQ(shape_of(builder.add("Concat", 1, {a, b}, {{"axis", "-2"}})), "2,7,7");
}

TEST(GuessTypeTest, FollowsWhatIrSaysOfTheOperator) {
  Node node;
  const std::vector<std::optional<ElementType>> inputs = {ElementType::boolean, ElementType::i32};
  node.type = "Select";
  EXPECT_EQ(guess_type(node, 0, inputs), ElementType::i32);
  node.type = "Less";
  EXPECT_EQ(guess_type(node, 0, inputs), ElementType::boolean);
  node.type = "Add";
  EXPECT_EQ(guess_type(node, 0, {}), std::nullopt);
  node.type = "NonMaxSuppression";
  EXPECT_EQ(guess_type(node, 1, {}), std::nullopt);
}

}  // namespace
}  // namespace headrace::detail
