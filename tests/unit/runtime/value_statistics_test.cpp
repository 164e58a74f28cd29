// SPDX-License-Identifier: Apache-2.0
// Ranges from known distributions.
#include "runtime/value_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace headrace {
namespace {

std::vector<float> normal_values(std::size_t count, float deviation, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0F, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

// What 256 even levels on the range do to the values, by rounding each.
double square_error(const std::vector<float>& values, double low, double high) {
  const double step = (high - low) / 255;
  double sum = 0.0;
  for (const float value : values) {
    const double clamped = std::clamp(static_cast<double>(value), low, high);
    const double rounded = std::nearbyint((clamped - low) / step) * step + low;
    sum += (static_cast<double>(value) - rounded) * (static_cast<double>(value) - rounded);
  }
  return sum;
}

TEST(ValueStatisticsTest, FullRangeOverSeveralTensors) {
  ValueStatistics statistics;
  EXPECT_TRUE(statistics.is_empty());
  EXPECT_TRUE(statistics.add(std::vector<float>{}));
  EXPECT_TRUE(statistics.is_empty());
  EXPECT_TRUE(statistics.add(std::vector<float>{0.5F, 0.25F}));
  EXPECT_TRUE(statistics.add(std::vector<float>{-1000.0F, 3e30F, 0.0F}));
  EXPECT_EQ(statistics.full_range().low, -1000.0);
  EXPECT_EQ(statistics.full_range().high, static_cast<double>(3e30F));
}

TEST(ValueStatisticsTest, NoNumberIsRefusedAndChangesNothing) {
  ValueStatistics statistics;
  ASSERT_TRUE(statistics.add(std::vector<float>{1.0F, 2.0F}));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(statistics.add(std::vector<float>{5.0F, bad}));
    EXPECT_FALSE(statistics.add(std::vector<float>{bad, 5.0F}));
  }
  EXPECT_EQ(statistics.full_range().high, 2.0);
}

TEST(ValueStatisticsTest, PercentilesOfAUniformDistribution) {
  ValueStatistics statistics;
  std::vector<float> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<float>(i) / 100'000.0F * 3.0F - 1.0F);
  ASSERT_TRUE(statistics.add(values));
  for (const double percent : {99.0, 95.0, 75.0}) {
    const auto [low, high] = statistics.percentile_range(percent);
    EXPECT_NEAR(low, -1.0 + 3.0 * (100 - percent) / 100, 2e-3) << percent;
    EXPECT_NEAR(high, -1.0 + 3.0 * percent / 100, 2e-3) << percent;
  }
  EXPECT_EQ(statistics.percentile_range(100).low, -1.0);
  EXPECT_NEAR(statistics.percentile_range(100).high, 2.0, 1e-3);
}

TEST(ValueStatisticsTest, PercentilesLeaveOutliersAside) {
  // The histogram has to widen by a factor of 2^13 for the outlier, and then tells nothing of the rest below one bin.
  ValueStatistics statistics;
  ASSERT_TRUE(statistics.add(normal_values(100'000, 1.0F)));
  ASSERT_TRUE(statistics.add(std::vector<float>{500.0F}));
  const auto [low, high] = statistics.percentile_range(99.9);
  EXPECT_NEAR(low, -3.09, 0.25);
  EXPECT_NEAR(high, 3.09, 0.25);
}

TEST(ValueStatisticsTest, ZerosCountForPercentiles) {
  ValueStatistics statistics;
  std::vector<float> values(900, 0.0F);
  for (int i = 0; i < 100; ++i) values.push_back(1.0F + static_cast<float>(i) / 100.0F);
  ASSERT_TRUE(statistics.add(values));
  EXPECT_EQ(statistics.percentile_range(80).low, 0.0);
  EXPECT_EQ(statistics.percentile_range(80).high, 0.0);
  EXPECT_NEAR(statistics.percentile_range(95).high, 1.5, 0.02);
}

TEST(ValueStatisticsTest, LeastErrorIsNearTheBestOfAllRanges) {
  for (const bool is_positive : {false, true}) {
    std::vector<float> values = normal_values(400'000, 1.0F);
    values[0] = 20.0F;
    if (is_positive) {
      for (float& value : values) value = std::max(value, 0.0F);
    }
    ValueStatistics statistics;
    ASSERT_TRUE(statistics.add(values));
    const auto [low, high] = statistics.least_error_range(true);
    EXPECT_EQ(low == 0.0, is_positive);
    double best = std::numeric_limits<double>::infinity();
    for (double limit = 3; limit < 25; limit *= 1.04) {
      best = std::min(best, square_error(values, is_positive ? 0.0 : -limit, limit));
    }
    const double found = square_error(values, low, high);
    EXPECT_LE(found, 1.05 * best);
    EXPECT_LT(found, 0.9 * square_error(values, is_positive ? 0.0 : -20.0, 20.0));
  }
}

TEST(ValueStatisticsTest, LeastErrorOfALopsidedDistributionIsLopsided) {
  std::vector<float> values = normal_values(20'000, 1.0F);
  for (float& value : values) value = value < 0.0F ? 0.1F * value : value;
  ValueStatistics statistics;
  ASSERT_TRUE(statistics.add(values));
  const auto [low, high] = statistics.least_error_range(false);
  const auto full = statistics.full_range();
  EXPECT_LE(square_error(values, low, high), 1.01 * square_error(values, full.low, full.high));
  EXPECT_LT(-low, 0.25 * high);
}

TEST(ValueStatisticsTest, ZerosAndTinyValuesHaveRanges) {
  ValueStatistics zeros;
  ASSERT_TRUE(zeros.add(std::vector<float>(5, 0.0F)));
  EXPECT_FALSE(zeros.is_empty());
  EXPECT_EQ(zeros.least_error_range(false).high, 0.0);
  EXPECT_EQ(zeros.percentile_range(99).high, 0.0);
  ValueStatistics tiny;
  ASSERT_TRUE(tiny.add(std::vector<float>{1e-42F, -1e-44F}));
  EXPECT_NEAR(tiny.percentile_range(100).high, static_cast<double>(1e-42F), 1e-45);
}

TEST(ValueStatisticsTest, StoredAndRestoredItGoesOnTheSame) {
  ValueStatistics whole;
  ValueStatistics first;
  const auto a = normal_values(1000, 1.0F, 2);
  const auto b = normal_values(1000, 20.0F, 3);
  ASSERT_TRUE(whole.add(a) && whole.add(b) && first.add(a));
  ValueStatistics second;
  ASSERT_TRUE(second.restore(first.store()));
  ASSERT_TRUE(second.add(b));
  EXPECT_EQ(second.store().counts, whole.store().counts);
  EXPECT_EQ(second.percentile_range(99).high, whole.percentile_range(99).high);
}

TEST(ValueStatisticsTest, WhatAreNoStatisticsIsNotRestored) {
  ValueStatistics source;
  ASSERT_TRUE(source.add(std::vector<float>{1.0F, -2.0F}));
  const auto good = source.store();
  ValueStatistics target;
  const auto refused = [&](auto change) {
    auto bad = good;
    change(bad);
    return !target.restore(bad) && target.is_empty();
  };
  EXPECT_TRUE(refused([](auto& s) { s.limit = 3.0; }));
  EXPECT_TRUE(refused([](auto& s) { s.limit = 0.0; }));
  EXPECT_TRUE(refused([](auto& s) { s.limit = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused([](auto& s) { s.max = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](auto& s) { s.max = 1e9; }));
  EXPECT_TRUE(refused([](auto& s) { s.min = 2.0; }));
  EXPECT_TRUE(refused([](auto& s) { s.counts.push_back({9000, 1}); }));
  EXPECT_TRUE(refused([](auto& s) { s.counts[0].second = 0; }));
}

}  // namespace
}  // namespace headrace
