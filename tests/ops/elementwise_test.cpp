// SPDX-License-Identifier: Apache-2.0
// Kernels of the element-wise operators against their references on every device.
#include <gtest/gtest.h>

#include <limits>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct UnaryCase {
  std::string type;
  RawAttributes raw;
  float low = -4;
  float high = 4;
};

std::ostream& operator<<(std::ostream& out, const UnaryCase& c) { return out << c.type; }

class UnaryOpTest : public ::testing::TestWithParam<UnaryCase> {};

// Inner sizes around the vector width, then one large enough to be shared by work-items.
TEST_P(UnaryOpTest, MatchesReference) {
  const UnaryCase& c = GetParam();
  std::uint32_t seed = 1;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{15}, Shape{2, 17}, Shape{1, 5, 3, 2}, Shape{2, 33, 17, 19}}) {
    check_op({.type = c.type, .attributes = c.raw, .inputs = {random_tensor(shape, seed++, c.low, c.high)}});
  }
}

TEST_P(UnaryOpTest, PassesNanAndInfinityLikeReference) {
  const UnaryCase& c = GetParam();
  check_op({.type = c.type, .attributes = c.raw, .inputs = {floats({6}, {kNan, -1, 2, 0, kInf, 0.5F})}});
}

INSTANTIATE_TEST_SUITE_P(
    Functions, UnaryOpTest,
    ::testing::Values(
        UnaryCase{"ReLU", {}}, UnaryCase{"Clamp", {{"min", "-1"}, {"max", "1.5"}}}, UnaryCase{"Sigmoid", {}},
        UnaryCase{"Swish", {}}, UnaryCase{"HSwish", {}}, UnaryCase{"HSigmoid", {}}, UnaryCase{"Abs", {}},
        UnaryCase{"Negative", {}}, UnaryCase{"Sign", {}}, UnaryCase{"Floor", {}}, UnaryCase{"Ceiling", {}},
        UnaryCase{"Round", {}}, UnaryCase{"Round", {{"mode", "half_away_from_zero"}}}, UnaryCase{"Sqrt", {}, -1, 9},
        UnaryCase{"Exp", {}}, UnaryCase{"SoftSign", {}}, UnaryCase{"Tanh", {}}, UnaryCase{"Elu", {{"alpha", "1.5"}}},
        UnaryCase{"Gelu", {}}, UnaryCase{"Gelu", {{"approximation_mode", "TANH"}}}, UnaryCase{"Mish", {}, -30, 30},
        UnaryCase{"SoftPlus", {}, -30, 30}, UnaryCase{"Log", {}, 0.01F, 9}, UnaryCase{"Erf", {}}, UnaryCase{"Sin", {}},
        UnaryCase{"Cos", {}}, UnaryCase{"Tan", {}, -1.4F, 1.4F}, UnaryCase{"Asin", {}, -1.1F, 1.1F},
        UnaryCase{"Acos", {}, -1.1F, 1.1F}, UnaryCase{"Atan", {}}, UnaryCase{"Sinh", {}}, UnaryCase{"Cosh", {}},
        UnaryCase{"Asinh", {}}, UnaryCase{"Acosh", {}, 0.9F, 4}, UnaryCase{"Atanh", {}, -1.1F, 1.1F}));

TEST(UnaryOpInputsTest, TakesParametersFromConstants) {
  const Tensor x = random_tensor({3, 21}, 3, -4, 4);
  check_op({.type = "HardSigmoid", .inputs = {x, floats({}, {0.3F}), floats({}, {0.4F})}, .constants = {1, 2}});
  check_op({.type = "Selu", .inputs = {x, floats({1}, {1.6F}), floats({1}, {1.1F})}, .constants = {1, 2}});
  check_op({.type = "Swish", .inputs = {x, floats({}, {1.7F})}, .constants = {1}});
  check_op_refused({.type = "Swish", .inputs = {x, floats({}, {1.7F})}}, "input 1 is not a constant");
}

TEST(UnaryOpTypesTest, KeepsIntegersExact) {
  for (const ElementType type : {ElementType::i64, ElementType::i32, ElementType::i8}) {
    const Tensor x = random_ints(type, {2, 5, 3, 7}, 9, -100, 100);
    for (const char* name : {"ReLU", "Abs", "Negative", "Sign", "Floor"}) {
      check_op({.type = name, .inputs = {x}, .tolerance = 0});
    }
    check_op({.type = "Clamp", .attributes = {{"min", "-3.5"}, {"max", "1e20"}}, .inputs = {x}, .tolerance = 0});
  }
  check_op({.type = "LogicalNot", .inputs = {random_ints(ElementType::boolean, {3, 17}, 4, 0, 2)}, .tolerance = 0});
}

struct BinaryShapes {
  Shape a;
  Shape b;
};

const std::vector<BinaryShapes>& binary_shapes() {
  static const std::vector<BinaryShapes> shapes = {
      {{}, {}},
      {{17}, {1}},
      {{2, 1}, {3}},
      {{1, 19, 5, 3}, {1, 19, 5, 3}},
      {{2, 33, 7, 5}, {1, 33, 1, 1}},
      {{2, 33, 7, 5}, {2, 33, 1, 1}},
      {{2, 3, 7, 5}, {5}},
      {{1, 3, 1, 5}, {4, 1, 6, 1}},
      {{2, 1, 3, 1, 2, 1, 3}, {1, 2, 1, 3, 1, 2, 3}},
      {{1, 64, 40, 41}, {1, 64, 40, 41}},
  };
  return shapes;
}

class BinaryOpTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BinaryOpTest, BroadcastsLikeReference) {
  std::uint32_t seed = 11;
  for (const BinaryShapes& shapes : binary_shapes()) {
    const bool is_power = std::string(GetParam()) == "Power";
    const Tensor a = random_tensor(shapes.a, seed++, is_power ? 0.1F : -3.0F, 3);
    const Tensor b = random_tensor(shapes.b, seed++, 0.5F, 3);
    check_op({.type = GetParam(), .inputs = {a, b}});
    check_op({.type = GetParam(), .inputs = {a, b}, .constants = {1}});
    if (!is_power) check_op({.type = GetParam(), .inputs = {b, a}, .constants = {0}, .tolerance = 1e-3});
  }
}

TEST_P(BinaryOpTest, ComputesIntegersExactly) {
  for (const ElementType type : {ElementType::i32, ElementType::i64}) {
    const Tensor a = random_ints(type, {2, 5, 4}, 21, -50, 50);
    const Tensor b = random_ints(type, {5, 1}, 22, -4, 4);
    check_op({.type = GetParam(), .inputs = {a, b}, .tolerance = 0});
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, BinaryOpTest,
                         ::testing::Values("Add", "Subtract", "Multiply", "Divide", "Maximum", "Minimum",
                                           "SquaredDifference", "Power"));

TEST(BinaryOpRemainderTest, MatchesReference) {
  // Quotients near an integer make remainders jump: whole numbers and halves are exact.
  const Tensor a = floats({8}, {7, -7, 7.5F, -7.5F, 1e6F, kNan, 3, 0});
  const Tensor b = floats({8}, {2, 2, -2, -2, 7, 2, 3, 5});
  check_op({.type = "Mod", .inputs = {a, b}});
  check_op({.type = "FloorMod", .inputs = {a, b}});
  const Tensor x = random_ints(ElementType::i64, {40}, 5, -50, 50);
  const Tensor y = random_ints(ElementType::i64, {40}, 6, -4, 4);
  check_op({.type = "Mod", .inputs = {x, y}, .tolerance = 0});
  check_op({.type = "FloorMod", .inputs = {x, y}, .tolerance = 0});
  check_op({.type = "Divide", .attributes = {{"m_pythondiv", "false"}}, .inputs = {x, y}, .tolerance = 0});
}

TEST(BinaryOpNanTest, KeepsNanOnEitherSide) {
  std::vector<float> left(19, kNan);
  std::vector<float> right(19, 1);
  check_op({.type = "Maximum", .inputs = {floats({19}, left), floats({19}, right)}});
  check_op({.type = "Maximum", .inputs = {floats({19}, right), floats({19}, left)}});
  check_op({.type = "Minimum", .inputs = {floats({19}, left), floats({19}, right)}});
  check_op({.type = "Minimum", .inputs = {floats({19}, right), floats({19}, left)}});
}

TEST(BinaryOpFusedTest, AppliesLightActivations) {
  const Tensor a = random_tensor({1, 35, 3, 5}, 31, -4, 4);
  const Tensor b = random_tensor({1, 35, 1, 1}, 32, -4, 4);
  for (const Activation activation :
       {Activation::kRelu, Activation::kClamp, Activation::kLeakyRelu, Activation::kSigmoid, Activation::kSwish,
        Activation::kHSwish, Activation::kHSigmoid, Activation::kHardSigmoid, Activation::kFakeQuantize}) {
    const Epilogue epilogue{-1, -1, activation, 0.25F, 2.0F};
    for (const char* type : {"Add", "Multiply", "Subtract", "Divide"}) {
      OpCase c{.type = type, .inputs = {a, b}, .epilogue = epilogue, .tolerance = 1e-3};
      EXPECT_TRUE(find_op(type)->fuses(make_node(c), epilogue));
      check_op(c);
    }
  }
}

TEST(BinaryOpPdpdTest, PlacesByAxis) {
  const RawAttributes raw = {{"auto_broadcast", "pdpd"}, {"axis", "1"}};
  check_op({.type = "Add",
            .attributes = raw,
            .inputs = {random_tensor({2, 19, 3, 5}, 41), random_tensor({19}, 42)},
            .constants = {1}});
  check_op({.type = "Add", .attributes = raw, .inputs = {random_tensor({2, 9, 3, 5}, 43), random_tensor({9, 3}, 44)}});
}

TEST(PReluOpTest, AppliesSlopePerChannel) {
  const Tensor x = random_tensor({2, 35, 5, 35}, 51);
  for (const Shape& slope : {Shape{35}, Shape{1}, Shape{35, 1, 1}, Shape{1, 35, 1, 1}}) {
    check_op({.type = "PReLU", .inputs = {x, random_tensor(slope, 52)}, .constants = {1}});
  }
  check_op({.type = "PReLU", .inputs = {random_tensor({3, 7}, 53), random_tensor({7}, 54)}});
}

TEST(PReluOpTest, KeepsNanAndInfinity) {
  std::vector<float> x(2 * 35 * 3, 1);
  x[0] = x[36] = x[209] = kNan;
  x[1] = -std::numeric_limits<float>::infinity();
  x[100] = std::numeric_limits<float>::infinity();
  for (const float slope : {0.5F, 0.0F, kNan}) {
    check_op({.type = "PReLU", .inputs = {floats({2, 35, 3}, x), floats({1}, {slope})}, .constants = {1}});
  }
}

class CompareOpTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CompareOpTest, MatchesReference) {
  for (const ElementType type : {ElementType::f32, ElementType::i32, ElementType::i64, ElementType::u8}) {
    const Tensor a = random_ints(type, {2, 5, 4, 19}, 61, 0, 4);
    check_op({.type = GetParam(), .inputs = {a, random_ints(type, {5, 1, 1}, 62, 0, 4)}, .tolerance = 0});
  }
  check_op({.type = GetParam(), .inputs = {floats({3}, {kNan, 1, kInf}), floats({3}, {kNan, kNan, kInf})}});
}

INSTANTIATE_TEST_SUITE_P(Comparisons, CompareOpTest,
                         ::testing::Values("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"));

TEST(ClassifyOpTest, MatchesReference) {
  const Tensor x = floats({5}, {kNan, kInf, -kInf, 1, -0.0F});
  check_op({.type = "IsNaN", .inputs = {x}});
  check_op({.type = "IsFinite", .inputs = {x}});
  for (const char* negative : {"true", "false"}) {
    for (const char* positive : {"true", "false"}) {
      check_op({.type = "IsInf",
                .attributes = {{"detect_negative", negative}, {"detect_positive", positive}},
                .inputs = {x}});
    }
  }
}

TEST(LogicalOpTest, MatchesReference) {
  const Tensor a = random_ints(ElementType::boolean, {2, 3, 5, 7}, 71, 0, 2);
  const Tensor b = random_ints(ElementType::boolean, {3, 1, 7}, 72, 0, 2);
  for (const char* type : {"LogicalAnd", "LogicalOr", "LogicalXor"}) {
    check_op({.type = type, .inputs = {a, b}, .tolerance = 0});
  }
}

TEST(SelectOpTest, MatchesReference) {
  const Tensor mask = random_ints(ElementType::boolean, {2, 1, 5, 7}, 81, 0, 2);
  for (const ElementType type : {ElementType::f32, ElementType::i64, ElementType::i32, ElementType::u8}) {
    const Tensor a = random_ints(type, {2, 19, 5, 7}, 82, 0, 90);
    check_op({.type = "Select", .inputs = {mask, a, random_ints(type, {}, 83, 0, 90)}, .tolerance = 0});
    check_op({.type = "Select", .inputs = {mask, a, random_ints(type, {19, 1, 1}, 84, 0, 90)}, .tolerance = 0});
  }
}

TEST(ConvertOpTest, MatchesReferenceForEveryPair) {
  constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::i8,     ElementType::u8,
                                    ElementType::i32, ElementType::i64, ElementType::boolean};
  const Tensor values = floats({1, 5, 1, 2}, {0, 1, -1, 1.5F, -2.75F, 100, 127, 200, 300, -40000});
  for (const ElementType from : kTypes) {
    for (const ElementType to : kTypes) {
      check_op({.type = "Convert",
                .attributes = {{"destination_type", std::string(to_string(to))}},
                .inputs = {convert(values, from)},
                .tolerance = 0});
    }
  }
}

TEST(ConvertOpTest, SaturatesFloats) {
  const Tensor x = floats({7}, {kNan, kInf, -kInf, 1e10F, -1e10F, 1e30F, -1e30F});
  for (const char* to : {"i8", "u8", "i32", "i64", "boolean", "f16"}) {
    check_op({.type = "Convert", .attributes = {{"destination_type", to}}, .inputs = {x}, .tolerance = 0});
  }
}

// Report R18: denormals, ties to even, overflow to infinity.
TEST(ConvertOpTest, RoundsHalvesAsIeeeDoes) {
  Tensor all(ElementType::f16, {65536});
  auto* bits = reinterpret_cast<std::uint16_t*>(all.mutable_data());
  for (std::size_t i = 0; i < 65536; ++i) bits[i] = static_cast<std::uint16_t>(i);
  check_op({.type = "Convert", .attributes = {{"destination_type", "f32"}}, .inputs = {all}, .tolerance = 0});
  const Tensor x = floats({8}, {5.96e-8F, -1e-10F, 65504, 65519, 65520, 1 + 0x1p-11F, 1 + 3 * 0x1p-11F, -6.1e-5F});
  check_op({.type = "Convert", .attributes = {{"destination_type", "f16"}}, .inputs = {x}, .tolerance = 0});
}

// Report #9: odd widths, every element, nothing beside them.
TEST(UnaryOpTest, ReluKeepsEveryElementOfOddWidths) {
  for (const std::int64_t width : {1, 3, 7, 13, 757}) {
    for (const std::int64_t channels : {1, 3, 5, 17}) {
      const OpCase c{.type = "ReLU", .inputs = {random_tensor({3, channels, 1, width}, 1, 0, 1)}, .tolerance = 0};
      check_op(c);
      check_op_tile_family(c);
    }
  }
}

TEST(ElementwiseOpTest, EmptyTensorsNeedNoLaunch) {
  check_op({.type = "ReLU", .inputs = {floats({0, 3}, {})}});
  check_op({.type = "Add", .inputs = {floats({0, 3}, {}), floats({3}, {1, 2, 3})}});
}

}  // namespace
}  // namespace headrace::test
