// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace headrace {
namespace {

void expect_disjoint(const std::vector<Lifetime>& lifetimes, const ArenaPlan& plan) {
  for (std::size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 128, 0U);
    EXPECT_LE(plan.offsets[a] + lifetimes[a].size_bytes, plan.size_bytes);
    for (std::size_t b = a + 1; b < lifetimes.size(); ++b) {
      const bool is_together = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      const bool is_apart = plan.offsets[a] + lifetimes[a].size_bytes <= plan.offsets[b] ||
                            plan.offsets[b] + lifetimes[b].size_bytes <= plan.offsets[a];
      EXPECT_TRUE(!is_together || is_apart) << "blocks " << a << " and " << b << " overlap";
    }
  }
}

TEST(PlanArenaTest, ReusesMemoryOfDeadBlocks) {
  const std::vector<Lifetime> chain = {{1280, 0, 1}, {2560, 1, 2}, {1280, 2, 3}};
  const ArenaPlan plan = plan_arena(chain);
  expect_disjoint(chain, plan);
  EXPECT_EQ(plan.size_bytes, 3840U);
  EXPECT_EQ(plan.lower_bound_bytes, 3840U);
}

// Largest first alone makes these arenas 1.375, 1.15 and 1.13 times as large.
TEST(PlanArenaTest, TriesSeveralOrders) {
  const std::vector<std::vector<Lifetime>> lists = {
      {{512, 3, 4}, {512, 0, 1}, {384, 1, 2}, {512, 2, 3}},
      {{1024, 1, 5}, {384, 1, 2}, {768, 0, 1}, {896, 3, 5}, {640, 2, 3}},
      {{896, 0, 1}, {896, 3, 4}, {1024, 4, 5}, {768, 1, 2}, {256, 1, 3}},
  };
  for (const auto& lifetimes : lists) {
    const ArenaPlan plan = plan_arena(lifetimes);
    expect_disjoint(lifetimes, plan);
    EXPECT_EQ(plan.size_bytes, plan.lower_bound_bytes);
  }
}

// Tensors of a network live for a step or two, a few for longer.
TEST(PlanArenaTest, StaysNearTheLowerBound) {
  std::mt19937 generator(11);
  constexpr int kRounds = 200;
  int far = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 40; ++i) {
      const auto first = static_cast<std::int32_t>(generator() % 40);
      const auto more = static_cast<std::int32_t>(generator() % 3 == 0 ? generator() % 4 : 0);
      lifetimes.push_back({(1 + generator() % 8) * 128, first, first + 1 + more});
    }
    const ArenaPlan plan = plan_arena(lifetimes);
    expect_disjoint(lifetimes, plan);
    EXPECT_LE(static_cast<double>(plan.size_bytes), 1.2 * static_cast<double>(plan.lower_bound_bytes));
    far += static_cast<double>(plan.size_bytes) > 1.05 * static_cast<double>(plan.lower_bound_bytes) ? 1 : 0;
  }
  EXPECT_LE(far, kRounds / 50);
}

TEST(PlanArenaTest, EmptyListTakesNoMemory) {
  const ArenaPlan plan = plan_arena({});
  EXPECT_EQ(plan.size_bytes, 0U);
  EXPECT_EQ(plan.lower_bound_bytes, 0U);
}

TEST(PlanArenaTest, RoundsToAlignment) {
  const std::vector<Lifetime> blocks = {{1, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(plan_arena(blocks).size_bytes, 256U);
}

TEST(PlanArenaTest, NeverOverlapsLiveBlocks) {
  std::mt19937 generator(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 40; ++i) {
      const auto first = static_cast<std::int32_t>(generator() % 30);
      lifetimes.push_back({generator() % 5000, first, first + static_cast<std::int32_t>(generator() % 6)});
    }
    const ArenaPlan plan = plan_arena(lifetimes);
    expect_disjoint(lifetimes, plan);
    EXPECT_GE(plan.size_bytes, plan.lower_bound_bytes);
  }
}

}  // namespace
}  // namespace headrace
