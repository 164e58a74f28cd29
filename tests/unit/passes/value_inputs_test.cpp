// SPDX-License-Identifier: Apache-2.0
#include "passes/value_inputs.hpp"

#include <gmock/gmock.h>

#include "ops/unknown_value.hpp"
#include "unit/passes/test_graph.hpp"

namespace headrace {
namespace {

using headrace::testing::GraphBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// x reshaped to 2 * target.
struct Reshaped {
  GraphBuilder builder;
  PortRef data, target, wanted, result;

  explicit Reshaped(const std::string& target_shape = "2") {
    data = builder.parameter("x", "2,6");
    target = builder.parameter("target", target_shape, ElementType::i64);
    wanted = builder.op("Multiply", "twice", {target, builder.ints("two", {2})});
    result = builder.op("Reshape", "r", {data, wanted}, {{"special_zero", "false"}});
    builder.result(result);
  }
};

TEST(ValueInputsTest, NamesTheInputThatDecidesAShape) {
  Reshaped net;
  try {
    infer_shapes(net.builder.graph);
    FAIL() << "the target is not known";
  } catch (const UnknownValue& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.sources(), ElementsAre(net.wanted));
    EXPECT_THAT(inputs_behind(net.builder.graph, error.sources()), ElementsAre(1U));
  }
}

TEST(ValueInputsTest, BoundInputsAreConstants) {
  Reshaped net;
  bind_input(net.builder.graph, 1, make_i64_tensor({2}, std::vector<std::int64_t>{3, 1}));
  infer_shapes(net.builder.graph);
  EXPECT_EQ(net.builder.graph.info(net.result).shape, (Shape{6, 2}));
  EXPECT_EQ(net.builder.graph.parameters().size(), 2U);
  verify(net.builder.graph, "bind_input");
}

TEST(ValueInputsTest, DataIsNotFollowed) {
  Reshaped net("100000");
  EXPECT_THROW(infer_shapes(net.builder.graph), UnknownValue);
  EXPECT_THAT(inputs_behind(net.builder.graph, {net.wanted}), IsEmpty());
}

// A shape is known without the values.
TEST(ValueInputsTest, StopsAtShapeOf) {
  GraphBuilder builder;
  const PortRef x = builder.parameter("x", "2,6");
  const PortRef shape = builder.op("ShapeOf", "s", {x}, {}, 3);
  builder.result(shape);
  EXPECT_THAT(inputs_behind(builder.graph, {shape}), IsEmpty());
}

}  // namespace
}  // namespace headrace
