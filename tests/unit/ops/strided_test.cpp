// SPDX-License-Identifier: Apache-2.0
#include "ops/strided.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headrace {
namespace {

TensorDesc row_major(const Shape& shape) { return {ElementType::f32, shape, row_major_strides(shape), 0}; }

TEST(CoalesceTest, DenseTensorsBecomeOneLoop) {
  const Shape shape = {2, 3, 4};
  const StridedLoop loop = coalesce(shape, {row_major_strides(shape), row_major_strides(shape)});
  EXPECT_EQ(loop.dims, (std::vector<std::int64_t>{24}));
  EXPECT_EQ(loop.strides[1], (std::vector<std::int64_t>{1}));
}

TEST(CoalesceTest, BroadcastDimensionStaysApart) {
  const Shape shape = {2, 3, 4};
  const TensorDesc bias = row_major({3, 1});
  const StridedLoop loop = coalesce(shape, {row_major_strides(shape), broadcast_strides(bias, shape)});
  EXPECT_EQ(loop.dims, (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(loop.strides[1], (std::vector<std::int64_t>{0, 1, 0}));
}

TEST(CoalesceTest, ChannelsLastWalksInMemoryOrder) {
  const Shape shape = {1, 8, 5, 6};
  const StridedLoop loop = coalesce(shape, {channels_last_strides(shape)});
  EXPECT_EQ(loop.dims, (std::vector<std::int64_t>{240}));
  EXPECT_EQ(loop.strides[0], (std::vector<std::int64_t>{1}));
}

TEST(CoalesceTest, ScalarHasNoLoop) { EXPECT_TRUE(coalesce({}, {{}}).dims.empty()); }

TEST(TensorDescTest, KnowsItsOrder) {
  EXPECT_TRUE(is_row_major(row_major({2, 3, 4, 5})));
  TensorDesc desc = row_major({2, 3, 4, 5});
  EXPECT_FALSE(is_channels_last(desc));
  desc.strides = channels_last_strides(desc.shape);
  EXPECT_TRUE(is_channels_last(desc));
  EXPECT_FALSE(is_row_major(desc));
  EXPECT_EQ(extent_elems(desc), 120);
}

TEST(TensorDescTest, RefusesMoreElementsThanIntReaches) {
  const TensorDesc huge = row_major({1 << 16, 1 << 15});
  const Support support = supports_int_index({}, std::vector<TensorDesc>{huge});
  EXPECT_FALSE(support.ok);
  EXPECT_NE(support.reason.find("2^31"), std::string::npos);
}

TEST(ApplyActivationTest, KeepsNanAndHandValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int code = 0; code <= static_cast<int>(Activation::kFakeQuantize); ++code) {
    EXPECT_TRUE(std::isnan(apply_activation(static_cast<Activation>(code), 0.5, 1.0, nan))) << code;
  }
  EXPECT_EQ(apply_activation(Activation::kRelu, 0, 0, -2.0), 0.0);
  EXPECT_EQ(apply_activation(Activation::kClamp, 0, 6, 7.5), 6.0);
  EXPECT_EQ(apply_activation(Activation::kLeakyRelu, 0.1, 0, -10.0), -1.0);
  EXPECT_NEAR(apply_activation(Activation::kSwish, 1, 0, 1.0), 0.7310585786, 1e-9);
  EXPECT_NEAR(apply_activation(Activation::kGeluErf, 0, 0, 1.0), 0.8413447461, 1e-9);
  EXPECT_NEAR(apply_activation(Activation::kMish, 0, 0, 1.0), 0.8650983883, 1e-9);
  EXPECT_NEAR(apply_activation(Activation::kHardSigmoid, 0.2, 0.5, -1.0), 0.3, 1e-12);
  EXPECT_NEAR(apply_activation(Activation::kSoftPlus, 0, 0, -800.0), 0.0, 1e-12);
  const auto quantized = [](double x) { return apply_activation(Activation::kFakeQuantize, -255, 255, x); };
  EXPECT_EQ(quantized(-1.0), -1.0) << "the levels are the odd numbers";
  EXPECT_EQ(quantized(2.0), 1.0) << "halves to the even level, number 128";
  EXPECT_EQ(quantized(4.0), 5.0) << "to number 130";
  EXPECT_EQ(quantized(-1e30), -255.0);
  EXPECT_EQ(quantized(std::numeric_limits<double>::infinity()), 255.0);
}

}  // namespace
}  // namespace headrace
