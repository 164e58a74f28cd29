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
