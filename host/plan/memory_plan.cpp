// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.hpp"

#include <algorithm>
#include <numeric>

#include "core/tensor.hpp"

namespace headrace {
namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment; }

std::size_t lower_bound_of(std::span<const Lifetime> lifetimes) {
  std::vector<std::pair<std::int32_t, std::int64_t>> events;  // (step, bytes that appear or go)
  for (const Lifetime& life : lifetimes) {
    const auto bytes = static_cast<std::int64_t>(rounded(life.size_bytes));
    events.emplace_back(life.first, bytes);
    events.emplace_back(life.last + 1, -bytes);
  }
  std::sort(events.begin(), events.end());  // at one step what goes (negative) comes first
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const auto& [step, bytes] : events) {
    live += bytes;
    most = std::max(most, live);
  }
  return static_cast<std::size_t>(most);
}

// The smallest gap that holds the block among the placed blocks that live at the same time; else behind them all.
std::size_t find_place(std::size_t index, std::span<const Lifetime> lifetimes, const std::vector<std::size_t>& placed,
                       const std::vector<std::size_t>& offsets) {
  const Lifetime& life = lifetimes[index];
  const std::size_t wanted = rounded(life.size_bytes);
  std::size_t end_of_previous = 0;
  std::size_t best = 0;
  std::size_t best_gap = 0;
  bool is_found = false;
  for (const std::size_t other : placed) {  // sorted by offset
    if (lifetimes[other].first > life.last || lifetimes[other].last < life.first) continue;
    if (offsets[other] > end_of_previous) {
      const std::size_t gap = offsets[other] - end_of_previous;
      if (gap >= wanted && (!is_found || gap < best_gap)) {
        best = end_of_previous;
        best_gap = gap;
        is_found = true;
      }
    }
    end_of_previous = std::max(end_of_previous, offsets[other] + rounded(lifetimes[other].size_bytes));
  }
  return is_found ? best : end_of_previous;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  plan.lower_bound_bytes = lower_bound_of(lifetimes);
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].size_bytes > lifetimes[b].size_bytes; });
  std::vector<std::size_t> placed;
  for (const std::size_t index : order) {
    plan.offsets[index] = find_place(index, lifetimes, placed, plan.offsets);
    const auto position = std::upper_bound(placed.begin(), placed.end(), index, [&](std::size_t a, std::size_t b) {
      return plan.offsets[a] < plan.offsets[b];
    });
    placed.insert(position, index);
    plan.size_bytes = std::max(plan.size_bytes, plan.offsets[index] + rounded(lifetimes[index].size_bytes));
  }
  return plan;
}

}  // namespace headrace
