// SPDX-License-Identifier: Apache-2.0
// Kernels of SoftMax and the normalisations against their references on every device.
#include <gtest/gtest.h>

#include <limits>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor axes_tensor(const std::vector<std::int64_t>& axes) {
  return ints({static_cast<std::int64_t>(axes.size())}, axes);
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{17}, {3, 5}, {2, 35}, {1, 1000}, {2, 19, 7}, {2, 33, 5, 3}, {1, 3, 2, 4, 21}};
  return all;
}

TEST(SoftMaxOpTest, MatchesReferenceOnEveryAxis) {
  std::uint32_t seed = 1;
  for (const char* type : {"SoftMax", "LogSoftmax"}) {
    for (const Shape& shape : shapes()) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        check_op({.type = type,
                  .attributes = {{"axis", std::to_string(axis)}},
                  .inputs = {random_tensor(shape, seed++, -9, 9)}});
      }
    }
  }
}

TEST(SoftMaxOpTest, SurvivesLargeValuesAndInfinities) {
  for (const char* type : {"SoftMax", "LogSoftmax"}) {
    for (const std::vector<float>& row : {std::vector<float>{1000, 1000, -1000},
                                          {8, 18, 28},
                                          {-kInf, -kInf, -kInf},
                                          {kInf, 1, 2},
                                          {-kInf, 0, 0},
                                          {0, kNan, 0}}) {
      check_op({.type = type, .attributes = {{"axis", "1"}}, .inputs = {floats({1, 3}, row)}});
      check_op({.type = type, .attributes = {{"axis", "0"}}, .inputs = {floats({3, 1}, row)}});
    }
  }
}

TEST(MvnOpTest, MatchesReference) {
  const std::vector<std::vector<std::int64_t>> axes = {{2, 3}, {1, 2, 3}, {3}, {1}, {-1, -2}};
  std::uint32_t seed = 20;
  for (const std::vector<std::int64_t>& along : axes) {
    for (const char* mode : {"inside_sqrt", "outside_sqrt"}) {
      for (const char* variance : {"true", "false"}) {
        check_op({.type = "MVN",
                  .attributes = {{"eps", "1e-5"}, {"eps_mode", mode}, {"normalize_variance", variance}},
                  .inputs = {random_tensor({2, 35, 5, 7}, seed++, 2, 5), axes_tensor(along)},
                  .constants = {1},
                  .opset = 6});
      }
    }
  }
  check_op({.type = "MVN",
            .attributes = {{"eps", "1e-5"}, {"across_channels", "false"}},
            .inputs = {random_tensor({1, 19, 40, 41}, seed, 2, 5)},
            .opset = 2});
  // The squares are taken of x - mean: a large mean must not drown a small variance.
  check_op({.type = "MVN",
            .attributes = {{"eps", "1e-9"}, {"eps_mode", "inside_sqrt"}},
            .inputs = {random_tensor({3, 197, 384}, seed, 100, 101), axes_tensor({-1})},
            .constants = {1},
            .opset = 6,
            .tolerance = 1e-3});
}

TEST(NormalizeL2OpTest, MatchesReference) {
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{1}, {1, 2, 3}, {2, 3}, {3}}) {
    for (const char* mode : {"add", "max"}) {
      for (const char* eps : {"1e-6", "5"}) {
        check_op({.type = "NormalizeL2",
                  .attributes = {{"eps", eps}, {"eps_mode", mode}},
                  .inputs = {random_tensor({2, 35, 5, 7}, 30), axes_tensor(axes)},
                  .constants = {1}});
      }
    }
  }
}

TEST(GrnOpTest, MatchesReference) {
  for (const Shape& shape : {Shape{2, 35}, Shape{1, 17, 3, 5}, Shape{2, 5, 3, 2, 4}}) {
    check_op({.type = "GRN", .attributes = {{"bias", "0.5"}}, .inputs = {random_tensor(shape, 40)}});
  }
}

TEST(BatchNormOpTest, MatchesReference) {
  for (const Shape& shape : {Shape{3, 35}, Shape{2, 35, 5, 3}, Shape{1, 35, 2, 3, 4}}) {
    const Tensor x = random_tensor(shape, 50);
    const Tensor gamma = random_tensor({35}, 51);
    const Tensor beta = random_tensor({35}, 52);
    const Tensor mean = random_tensor({35}, 53);
    const Tensor variance = random_tensor({35}, 54, 0.1F, 2);
    check_op({.type = "BatchNormInference",
              .attributes = {{"epsilon", "0.001"}},
              .inputs = {x, gamma, beta, mean, variance},
              .constants = {1, 2, 3, 4},
              .opset = 5});
    check_op({.type = "BatchNormInference",
              .attributes = {{"epsilon", "0.001"}},
              .inputs = {gamma, beta, x, mean, variance},
              .constants = {0, 1, 3, 4}});
  }
}

TEST(BatchNormOpTest, AppliesLightActivations) {
  for (const Activation activation : {Activation::kRelu, Activation::kClamp, Activation::kSwish}) {
    OpCase c{.type = "BatchNormInference", .attributes = {{"epsilon", "0"}}, .constants = {1, 2, 3, 4}, .opset = 5};
    c.inputs = {random_tensor({2, 35, 5, 3}, 55)};
    for (const std::uint32_t seed : {56U, 57U, 58U}) c.inputs.push_back(random_tensor({35}, seed));
    c.inputs.push_back(random_tensor({35}, 59, 0.5F, 2));
    c.epilogue.activation = activation;
    c.epilogue.alpha = activation == Activation::kClamp ? -0.5F : 1.0F;
    c.epilogue.beta = 0.5F;
    check_op(c);
  }
}

TEST(LrnOpTest, MatchesReference) {
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{1}, {2, 3}, {1, 2, 3}, {3}}) {
    for (const char* size : {"1", "3", "5"}) {
      for (const char* beta : {"0.75", "1", "0.6"}) {
        check_op({.type = "LRN",
                  .attributes = {{"alpha", "0.8"}, {"beta", beta}, {"bias", "1.5"}, {"size", size}},
                  .inputs = {random_tensor({2, 37, 4, 5}, 60, -2, 2), axes_tensor(axes)},
                  .constants = {1}});
      }
    }
  }
  // A window wider than the tensor.
  check_op({.type = "LRN",
            .attributes = {{"alpha", "1"}, {"beta", "0.75"}, {"bias", "1"}, {"size", "9"}},
            .inputs = {random_tensor({1, 3, 2, 2}, 61), axes_tensor({1})},
            .constants = {1}});
}

// Values in the middle between two steps of the level grid: no rounding error moves them to the neighbour.
Tensor grid_values(const Shape& shape, std::uint32_t seed) {
  Tensor steps = convert(random_ints(ElementType::i32, shape, seed, -20, 280), ElementType::f32);
  for (float& value : steps.mutable_values<float>()) value = (value + 0.25F) / 64;
  return steps;
}

TEST(FakeQuantizeOpTest, MatchesReference) {
  const Tensor x = grid_values({2, 35, 5, 3}, 70);
  const Tensor low = floats({}, {0});
  const Tensor high = floats({}, {255.0F / 64});
  check_op({.type = "FakeQuantize",
            .attributes = {{"levels", "256"}},
            .inputs = {x, low, high, low, high},
            .constants = {1, 2, 3, 4}});
  const Tensor out_low = random_tensor({1, 35, 1, 1}, 71, -2, -1);
  const Tensor out_high = random_tensor({1, 35, 1, 1}, 72, 1, 2);
  check_op({.type = "FakeQuantize",
            .attributes = {{"levels", "256"}},
            .inputs = {x, low, high, out_low, out_high},
            .constants = {1, 2, 3, 4}});
  check_op({.type = "FakeQuantize",
            .attributes = {{"levels", "2"}},
            .inputs = {floats({5}, {kNan, -1, 0.2F, 0.8F, kInf}), low, floats({}, {1}), low, floats({}, {3})},
            .constants = {1, 2, 3, 4}});
}

}  // namespace
}  // namespace headrace::test
