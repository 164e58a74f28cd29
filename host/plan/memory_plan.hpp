// SPDX-License-Identifier: Apache-2.0
// Places storages with known lifetimes in one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace {

// A block that is live in steps first..last, both included.
struct Lifetime {
  std::size_t size_bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  // per lifetime, multiples of kMemoryAlignment
  std::size_t size_bytes = 0;
  std::size_t lower_bound_bytes = 0;  // the most bytes live at one step: no plan of this schedule can be smaller
};

// Gives blocks that are live at the same step disjoint places. Deterministic. O(n^2) in the number of lifetimes.
// Method: one block after another into the gap that fits best, in several orders (Pisarchyk and Lee 2020: by size, by
// breadth), each changed a few times so that the block that ends the arena comes first; the smallest arena is taken.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

}  // namespace headrace
