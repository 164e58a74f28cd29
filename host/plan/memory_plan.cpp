// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.hpp"

#include <algorithm>
#include <limits>
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

using Order = std::vector<std::size_t>;

// Places the blocks one after another in this order.
ArenaPlan place_in_order(std::span<const Lifetime> lifetimes, const Order& order) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
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

// For each block the most bytes that are live at one of its steps: where there are many, places are rare.
std::vector<std::size_t> breadths_of(std::span<const Lifetime> lifetimes) {
  std::int32_t steps = 0;
  for (const Lifetime& life : lifetimes) steps = std::max(steps, life.last + 1);
  std::vector<std::size_t> live(static_cast<std::size_t>(steps), 0);
  for (const Lifetime& life : lifetimes) {
    for (std::int32_t step = life.first; step <= life.last; ++step) {
      live[static_cast<std::size_t>(step)] += rounded(life.size_bytes);
    }
  }
  std::vector<std::size_t> breadths;
  for (const Lifetime& life : lifetimes) {
    breadths.push_back(*std::max_element(live.begin() + life.first, live.begin() + life.last + 1));
  }
  return breadths;
}

// Orders that each do best on some networks: large blocks first, those of crowded steps first, those of much memory
// over much time first.
std::vector<Order> make_orders(std::span<const Lifetime> lifetimes) {
  const std::vector<std::size_t> breadths = breadths_of(lifetimes);
  const auto size = [&](std::size_t i) { return lifetimes[i].size_bytes; };
  const auto area = [&](std::size_t i) {
    return size(i) * static_cast<std::size_t>(lifetimes[i].last - lifetimes[i].first + 1);
  };
  Order by_size(lifetimes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  Order by_breadth = by_size;
  std::stable_sort(by_breadth.begin(), by_breadth.end(),
                   [&](std::size_t a, std::size_t b) { return breadths[a] > breadths[b]; });
  Order by_area = by_size;
  std::stable_sort(by_area.begin(), by_area.end(), [&](std::size_t a, std::size_t b) { return area(a) > area(b); });
  return {by_size, by_breadth, by_area};
}

// Moves the block that ends the arena to the front; nothing where it stands there.
bool promote_last(std::span<const Lifetime> lifetimes, const ArenaPlan& plan, Order& order) {
  const auto ends = [&](std::size_t i) { return plan.offsets[i] + rounded(lifetimes[i].size_bytes); };
  const auto found =
      std::find_if(order.begin(), order.end(), [&](std::size_t i) { return ends(i) == plan.size_bytes; });
  if (found == order.begin()) return false;
  std::rotate(order.begin(), found, found + 1);
  return true;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes) {
  // Few orders need more; each costs as much as the first.
  constexpr int kRounds = 16;
  if (lifetimes.empty()) return {};
  const std::size_t lower_bound = lower_bound_of(lifetimes);
  ArenaPlan best;
  best.size_bytes = std::numeric_limits<std::size_t>::max();
  for (Order& order : make_orders(lifetimes)) {
    for (int round = 0; round < kRounds && best.size_bytes > lower_bound; ++round) {
      ArenaPlan plan = place_in_order(lifetimes, order);
      const bool has_next = promote_last(lifetimes, plan, order);
      if (plan.size_bytes < best.size_bytes) best = std::move(plan);
      if (!has_next) break;
    }
  }
  best.lower_bound_bytes = lower_bound;
  return best;
}

}  // namespace headrace
