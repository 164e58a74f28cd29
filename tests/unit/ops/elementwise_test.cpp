// SPDX-License-Identifier: Apache-2.0
// Hand values for the operators that work element by element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveFloatNear;
using ::testing::Pointwise;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void expect_values(const Tensor& tensor, const std::vector<float>& expected) {
  EXPECT_THAT(tensor.values<float>(), Pointwise(NanSensitiveFloatNear(1e-5F), expected));
}

Tensor vector_of(const std::vector<float>& values) {
  return floats({static_cast<std::int64_t>(values.size())}, values);
}
Tensor scalar(float value) { return floats({}, {value}); }

Tensor booleans(const std::vector<std::int64_t>& values) { return convert(ints(values), ElementType::boolean); }
std::vector<std::int64_t> int_values(const Tensor& tensor) { return to_int64s(tensor); }

std::vector<std::int64_t> run_ints(const std::string& type, const RawAttributes& raw,
                                   const std::vector<Tensor>& inputs) {
  return int_values(run_op(type, raw, inputs)[0]);
}

struct UnaryCase {
  std::string type;
  RawAttributes raw;
  std::vector<float> input;
  std::vector<float> expected;
};

class UnaryReferenceTest : public ::testing::TestWithParam<UnaryCase> {};

TEST_P(UnaryReferenceTest, GivesHandValues) {
  const UnaryCase& c = GetParam();
  expect_values(run_op(c.type, c.raw, {vector_of(c.input)})[0], c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, UnaryReferenceTest,
    ::testing::Values(UnaryCase{"ReLU", {}, {kNan, -1, 2, kInf, -kInf}, {kNan, 0, 2, kInf, 0}},
                      UnaryCase{"Clamp", {{"min", "-1"}, {"max", "1.5"}}, {-2, 0.5F, 9, kNan}, {-1, 0.5F, 1.5F, kNan}},
                      UnaryCase{"Sigmoid", {}, {0, 1, -100, 100}, {0.5F, 0.7310586F, 0, 1}},
                      UnaryCase{"Swish", {}, {1, -1}, {0.7310586F, -0.2689414F}},
                      UnaryCase{"HSwish", {}, {-4, -1, 1, 4}, {0, -0.3333333F, 0.6666667F, 4}},
                      UnaryCase{"HSigmoid", {}, {-4, 0, 4}, {0, 0.5F, 1}},
                      UnaryCase{"Abs", {}, {-2, 3, kNan}, {2, 3, kNan}}, UnaryCase{"Negative", {}, {-2, 3}, {2, -3}},
                      UnaryCase{"Sign", {}, {-2, 0, 3, kNan}, {-1, 0, 1, kNan}},
                      UnaryCase{"Floor", {}, {-1.5F, 1.5F}, {-2, 1}}, UnaryCase{"Ceiling", {}, {-1.5F, 1.5F}, {-1, 2}},
                      UnaryCase{"Round", {}, {-2.5F, -1.5F, 0.5F, 1.5F, 2.5F}, {-2, -2, 0, 2, 2}},
                      UnaryCase{"Round", {{"mode", "half_away_from_zero"}}, {-2.5F, -1.5F, 0.5F, 2.4F}, {-3, -2, 1, 2}},
                      UnaryCase{"Sqrt", {}, {4, 2, -1}, {2, 1.4142135F, kNan}},
                      UnaryCase{"Exp", {}, {0, 1, -200}, {1, 2.7182818F, 0}},
                      UnaryCase{"SoftSign", {}, {1, -3}, {0.5F, -0.75F}},
                      UnaryCase{"Tanh", {}, {0, 1, -50}, {0, 0.7615942F, -1}},
                      UnaryCase{"Elu", {{"alpha", "2"}}, {-1, 3}, {-1.2642411F, 3}},
                      UnaryCase{"Gelu", {}, {1, -1}, {0.8413447F, -0.1586553F}},
                      UnaryCase{"Gelu", {{"approximation_mode", "tanh"}}, {1, -1}, {0.8411920F, -0.1588080F}},
                      UnaryCase{"Mish", {}, {1, -1}, {0.8650984F, -0.3034015F}},
                      UnaryCase{"SoftPlus", {}, {0, 100, -100}, {0.6931472F, 100, 0}},
                      UnaryCase{"Log", {}, {1, 0, -1}, {0, -kInf, kNan}}, UnaryCase{"Erf", {}, {0, 1}, {0, 0.8427008F}},
                      UnaryCase{"Sin", {}, {1}, {0.8414710F}}, UnaryCase{"Cos", {}, {1}, {0.5403023F}},
                      UnaryCase{"Tan", {}, {1}, {1.5574077F}}, UnaryCase{"Asin", {}, {1, 2}, {1.5707963F, kNan}},
                      UnaryCase{"Acos", {}, {0}, {1.5707963F}}, UnaryCase{"Atan", {}, {1}, {0.7853982F}},
                      UnaryCase{"Sinh", {}, {1}, {1.1752012F}}, UnaryCase{"Cosh", {}, {1}, {1.5430806F}},
                      UnaryCase{"Asinh", {}, {1}, {0.8813736F}}, UnaryCase{"Acosh", {}, {2}, {1.3169579F}},
                      UnaryCase{"Atanh", {}, {0.5F}, {0.5493061F}}));

TEST(UnaryReferenceInputsTest, TakesParametersFromInputs) {
  expect_values(run_op("HardSigmoid", {}, {vector_of({-1, -9, 9}), scalar(0.2F), scalar(0.5F)})[0], {0.3F, 0, 1});
  expect_values(run_op("Swish", {}, {vector_of({1}), scalar(2)})[0], {0.8807971F});
  expect_values(run_op("Selu", {}, {vector_of({-1, 1}), scalar(2), scalar(3)})[0], {-3.7927234F, 3});
  EXPECT_THAT(error_of("HardSigmoid", {}, {vector_of({1})}), HasSubstr("expects 3 inputs, has 1"));
  EXPECT_THAT(error_of("Swish", {}, {vector_of({1}), vector_of({1, 2})}), HasSubstr("expects one value"));
  EXPECT_THAT(error_of("Elu", {}, {vector_of({1})}), HasSubstr("'alpha' is missing"));
}

TEST(UnaryReferenceTypesTest, KeepsIntegersExact) {
  constexpr std::int64_t kBig = (std::int64_t{1} << 60) + 1;
  EXPECT_THAT(run_ints("Clamp", {{"min", "-1.5"}, {"max", "2.5"}}, {ints({-9, 0, 9})}), ElementsAre(-1, 0, 2));
  EXPECT_THAT(run_ints("Clamp", {{"min", "0"}, {"max", "1e30"}}, {ints({kBig, -kBig})}), ElementsAre(kBig, 0));
  EXPECT_THAT(run_ints("Abs", {}, {ints({-kBig})}), ElementsAre(kBig));
  EXPECT_THAT(run_ints("Negative", {}, {ints({kBig})}), ElementsAre(-kBig));
  EXPECT_THAT(run_ints("Floor", {}, {ints({kBig})}), ElementsAre(kBig));
  EXPECT_THAT(run_ints("Sign", {}, {convert(ints({-7, 0, 7}), ElementType::i32)}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(run_ints("LogicalNot", {}, {booleans({0, 1})}), ElementsAre(1, 0));
}

TEST(BinaryReferenceTest, ComputesFloats) {
  const std::vector<Tensor> pair = {vector_of({7, -7, 7, -7}), vector_of({2, 2, -2, -2})};
  expect_values(run_op("Add", {}, pair)[0], {9, -5, 5, -9});
  expect_values(run_op("Subtract", {}, pair)[0], {5, -9, 9, -5});
  expect_values(run_op("Multiply", {}, pair)[0], {14, -14, -14, 14});
  expect_values(run_op("Divide", {}, pair)[0], {3.5F, -3.5F, -3.5F, 3.5F});
  expect_values(run_op("Mod", {}, pair)[0], {1, -1, 1, -1});
  expect_values(run_op("FloorMod", {}, pair)[0], {1, 1, -1, -1});
  expect_values(run_op("SquaredDifference", {}, pair)[0], {25, 81, 81, 25});
  expect_values(run_op("Power", {}, {vector_of({2, 9, -1}), vector_of({-1, 0.5F, 0.5F})})[0], {0.5F, 3, kNan});
}

TEST(BinaryReferenceTest, KeepsNanOnEitherSide) {
  for (const char* type : {"Maximum", "Minimum"}) {
    expect_values(run_op(type, {}, {vector_of({kNan, 1, kNan}), vector_of({1, kNan, kNan})})[0], {kNan, kNan, kNan});
  }
  expect_values(run_op("Maximum", {}, {vector_of({1, -kInf}), vector_of({2, -3})})[0], {2, -3});
  expect_values(run_op("Minimum", {}, {vector_of({1, -kInf}), vector_of({2, -3})})[0], {1, -kInf});
}

TEST(BinaryReferenceTest, DividesIntegersAsAsked) {
  const std::vector<Tensor> pair = {ints({7, -7, 7, -7, 5}), ints({2, 2, -2, -2, 0})};
  EXPECT_THAT(run_ints("Divide", {}, pair), ElementsAre(3, -4, -4, 3, 0));
  EXPECT_THAT(run_ints("Divide", {{"m_pythondiv", "false"}}, pair), ElementsAre(3, -3, -3, 3, 0));
  EXPECT_THAT(run_ints("Mod", {}, pair), ElementsAre(1, -1, 1, -1, 0));
  EXPECT_THAT(run_ints("FloorMod", {}, pair), ElementsAre(1, 1, -1, -1, 0));
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(run_ints("Divide", {}, {ints({kMin}), ints({-1})}), ElementsAre(kMin));
  EXPECT_THAT(run_ints("Power", {}, {ints({3, 2, -1, 2}), ints({4, 0, -3, -1})}), ElementsAre(81, 1, -1, 0));
}

TEST(BinaryReferenceTest, Broadcasts) {
  const Tensor column = floats({2, 1}, {10, 20});
  const Tensor sum = run_op("Add", {}, {column, vector_of({1, 2, 3})})[0];
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  expect_values(sum, {11, 12, 13, 21, 22, 23});
  EXPECT_EQ(run_op("Add", {}, {floats({1, 0}, {}), scalar(1)})[0].shape(), (Shape{1, 0}));
  EXPECT_THAT(error_of("Add", {}, {vector_of({1, 2}), vector_of({1, 2, 3})}),
              HasSubstr("cannot broadcast [2] and [3]"));
  EXPECT_THAT(error_of("Add", {{"auto_broadcast", "none"}}, {vector_of({1, 2}), scalar(1)}), HasSubstr("by rule none"));
  EXPECT_THAT(error_of("Add", {}, {vector_of({1}), ints({1})}), HasSubstr("f32 and i64"));
}

TEST(BinaryReferenceTest, BroadcastsByPdpd) {
  const Tensor a = counting({2, 3, 2});
  const RawAttributes at1 = {{"auto_broadcast", "pdpd"}, {"axis", "1"}};
  expect_values(run_op("Add", at1, {a, vector_of({100, 200, 300})})[0],
                {100, 101, 202, 203, 304, 305, 106, 107, 208, 209, 310, 311});
  const RawAttributes at_end = {{"auto_broadcast", "pdpd"}};
  expect_values(run_op("Add", at_end, {a, vector_of({100, 200})})[0],
                {100, 201, 102, 203, 104, 205, 106, 207, 108, 209, 110, 211});
  EXPECT_THAT(error_of("Add", at1, {a, vector_of({1, 2})}), HasSubstr("by rule pdpd"));
  EXPECT_THAT(error_of("Add", {{"auto_broadcast", "pdpd"}, {"axis", "3"}}, {a, vector_of({1, 2})}),
              HasSubstr("broadcast axis 3"));
}

// public-reports #17: a slope of rank 1 belongs to the channels in IR.
TEST(PReluReferenceTest, AppliesSlopePerChannel) {
  std::vector<float> data(18);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = -static_cast<float>(i + 1);
  const Tensor x = floats({1, 3, 2, 3}, data);
  const std::vector<float> per_channel = {-0.5F, -1,     -1.5F, -2,     -2.5F, -3,     -10.5F, -12,    -13.5F,
                                          -15,   -16.5F, -18,   -32.5F, -35,   -37.5F, -40,    -42.5F, -45};
  expect_values(run_op("PReLU", {}, {x, vector_of({0.5F, 1.5F, 2.5F})})[0], per_channel);
  expect_values(run_op("PReLU", {}, {x, floats({3, 1, 1}, {0.5F, 1.5F, 2.5F})})[0], per_channel);
  std::vector<float> halves(data);
  for (float& value : halves) value *= 0.5F;
  expect_values(run_op("PReLU", {}, {x, vector_of({0.5F})})[0], halves);
  expect_values(run_op("PReLU", {}, {vector_of({-2, 2, kNan}), vector_of({0.5F})})[0], {-1, 2, kNan});
  EXPECT_THAT(error_of("PReLU", {}, {x, vector_of({1, 2})}), HasSubstr("slope of shape [2]"));
}

TEST(CompareReferenceTest, ComparesFloatsAndIntegers) {
  const std::vector<Tensor> pair = {vector_of({1, 2, 3, kNan}), vector_of({2, 2, 2, kNan})};
  EXPECT_THAT(run_ints("Equal", {}, pair), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(run_ints("NotEqual", {}, pair), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(run_ints("Less", {}, pair), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(run_ints("LessEqual", {}, pair), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(run_ints("Greater", {}, pair), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(run_ints("GreaterEqual", {}, pair), ElementsAre(0, 1, 1, 0));
  constexpr std::int64_t kBig = (std::int64_t{1} << 60) + 1;
  EXPECT_THAT(run_ints("Equal", {}, {ints({kBig, kBig}), ints({kBig - 1, kBig})}), ElementsAre(0, 1));
  EXPECT_EQ(run_op("Less", {}, pair)[0].type(), ElementType::boolean);
}

TEST(CompareReferenceTest, ClassifiesFloats) {
  const std::vector<Tensor> x = {vector_of({kNan, kInf, -kInf, 1})};
  EXPECT_THAT(run_ints("IsNaN", {}, x), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(run_ints("IsFinite", {}, x), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(run_ints("IsInf", {}, x), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(run_ints("IsInf", {{"detect_negative", "false"}}, x), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(run_ints("IsInf", {{"detect_positive", "false"}}, x), ElementsAre(0, 0, 1, 0));
}

TEST(LogicalReferenceTest, CombinesBooleans) {
  const std::vector<Tensor> pair = {booleans({0, 0, 1, 1}), booleans({0, 1, 0, 1})};
  EXPECT_THAT(run_ints("LogicalAnd", {}, pair), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(run_ints("LogicalOr", {}, pair), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(run_ints("LogicalXor", {}, pair), ElementsAre(0, 1, 1, 0));
}

TEST(SelectReferenceTest, ChoosesAndBroadcasts) {
  const Tensor result = run_op("Select", {}, {booleans({1, 0}), floats({2, 1}, {1, 2}), scalar(9)})[0];
  EXPECT_EQ(result.shape(), (Shape{2, 2}));
  expect_values(result, {1, 9, 2, 9});
  expect_values(run_op("Select", {}, {booleans({1, 0}), vector_of({kNan, 1}), vector_of({2, kNan})})[0], {kNan, kNan});
  EXPECT_THAT(run_ints("Select", {}, {booleans({0, 1}), ints({1, 2}), ints({3, 4})}), ElementsAre(3, 2));
  EXPECT_THAT(error_of("Select", {}, {ints({1}), ints({1}), ints({1})}), HasSubstr("boolean condition, got i64"));
}

TEST(ConvertReferenceTest, SaturatesAndTruncates) {
  const Tensor x = vector_of({-1.9F, 300, kNan, 0.5F});
  EXPECT_THAT(run_ints("Convert", {{"destination_type", "i32"}}, {x}), ElementsAre(-1, 300, 0, 0));
  EXPECT_THAT(run_ints("Convert", {{"destination_type", "u8"}}, {x}), ElementsAre(0, 255, 0, 0));
  EXPECT_THAT(run_ints("Convert", {{"destination_type", "boolean"}}, {x}), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(run_op("ConvertLike", {}, {x, ints({1})})[0].type(), ElementType::i64);
  EXPECT_THAT(error_of("Convert", {{"destination_type", "u4"}}, {x}), HasSubstr("'u4' is not supported"));
}

}  // namespace
}  // namespace headrace::test
