// SPDX-License-Identifier: Apache-2.0
// Hand values and refusals of recurrent cells and sequences; the rest of their cases is golden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/ops/reference_runner.hpp"

namespace headrace::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One hidden element that adds its input to its state.
std::vector<Tensor> adding(const Tensor& x, const Tensor& lengths, std::int64_t directions) {
  const Shape weight = {directions, 1, 1};
  const std::vector<float> ones(static_cast<std::size_t>(directions), 1);
  const std::vector<float> zeros(static_cast<std::size_t>(directions), 0);
  return {x,
          floats({1, directions, 1}, zeros),
          lengths,
          floats(weight, ones),
          floats(weight, ones),
          floats({directions, 1}, zeros)};
}

TEST(RnnSequenceTest, WalksEachDirectionToItsLength) {
  const RawAttributes raw = {{"hidden_size", "1"}, {"activations", "affine"}, {"direction", "bidirectional"}};
  const std::vector<Tensor> inputs = adding(floats({1, 4, 1}, {1, 2, 4, 8}), ints({3}), 2);
  const std::vector<Tensor> outputs = run_op("RNNSequence", raw, inputs, 5);
  EXPECT_EQ(outputs[0].shape(), (Shape{1, 2, 4, 1}));
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(1, 3, 7, 0, 7, 6, 4, 0));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(7, 7));
}

TEST(RnnSequenceTest, KeepsTheStateOfAnEmptySequence) {
  const RawAttributes raw = {{"hidden_size", "1"}, {"activations", "affine"}};
  std::vector<Tensor> inputs = adding(floats({1, 2, 1}, {1, 2}), ints({0}), 1);
  inputs[1] = floats({1, 1, 1}, {5});
  const std::vector<Tensor> outputs = run_op("RNNSequence", raw, inputs, 5);
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(0, 0));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(5));
}

TEST(RnnCellTest, KnowsOnnxActivations) {
  const auto cell = [](const char* function, float x, const char* alpha, const char* beta) {
    const RawAttributes raw = {
        {"hidden_size", "1"}, {"activations", function}, {"activations_alpha", alpha}, {"activations_beta", beta}};
    const Tensor one = floats({1, 1}, {1});
    const Tensor none = floats({1, 1}, {0});
    return run_op("RNNCell", raw, {floats({1, 1}, {x}), none, one, one, floats({1}, {0})})[0].values<float>()[0];
  };
  EXPECT_FLOAT_EQ(cell("Affine", 3, "2", "1"), 7);
  EXPECT_FLOAT_EQ(cell("LeakyRelu", -1, "", ""), -0.01F);
  EXPECT_FLOAT_EQ(cell("HardSigmoid", 1, "", ""), 0.7F);
  EXPECT_FLOAT_EQ(cell("HardSigmoid", -9, "0.5", "0.1"), 0);
  EXPECT_FLOAT_EQ(cell("ScaledTanh", 1, "2", "0.5"), 2 * std::tanh(0.5F));
  EXPECT_FLOAT_EQ(cell("Softsign", -1, "", ""), -0.5F);
  EXPECT_FLOAT_EQ(cell("Softplus", 0, "", ""), std::log(2.0F));
  EXPECT_FLOAT_EQ(cell("ThresholdedRelu", 0.5F, "", ""), 0);
  EXPECT_FLOAT_EQ(cell("Elu", -1, "2", ""), 2 * std::expm1(-1.0F));
  EXPECT_TRUE(std::isnan(cell("Relu", NAN, "", "")));
}

TEST(RnnCellTest, RefusesWhatItCannotCompute) {
  const Tensor one = floats({1, 1}, {1});
  const std::vector<Tensor> inputs = {one, one, one, one, floats({1}, {0})};
  EXPECT_THAT(error_of("RNNCell", {{"hidden_size", "1"}, {"activations", "swoosh"}}, inputs), HasSubstr("'swoosh'"));
  EXPECT_THAT(error_of("RNNCell", {{"hidden_size", "1"}, {"activations", "tanh,tanh"}}, inputs),
              HasSubstr("as many as 'tanh'"));
  EXPECT_THAT(error_of("RNNCell", {{"hidden_size", "2"}}, inputs), HasSubstr("needs H of shape [1,2]"));
  EXPECT_THAT(error_of("RNNCell", {{"hidden_size", "1"}, {"clip", "-1"}}, inputs), HasSubstr("clip"));
  EXPECT_THAT(error_of("GRUCell", {{"hidden_size", "1"}, {"linear_before_reset", "true"}}, inputs),
              HasSubstr("needs W of shape [3,1]"));
  EXPECT_THAT(error_of("LSTMCell", {{"hidden_size", "1"}, {"weights_format", "ifco"}}, inputs), HasSubstr("fico"));
  EXPECT_THAT(error_of("RNNSequence", {{"hidden_size", "1"}}, adding(floats({1, 1, 1}, {1}), ints({2}), 1), 5),
              HasSubstr("sequence length of 2"));
}

}  // namespace
}  // namespace headrace::test
