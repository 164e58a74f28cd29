// SPDX-License-Identifier: Apache-2.0
// The forms of conv_tile.cl, the convolution kernel of GPUs, and the choice among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/conv_problem.hpp"

namespace headrace {

// Work-items along a side of a work-group, and pixels and channels of each.
struct LocalForm {
  int side, item;

  int block() const { return side * item; }
  ConvTile tile() const { return {block(), block(), 1, false}; }
  std::size_t items() const { return static_cast<std::size_t>(side) * static_cast<std::size_t>(side); }
  std::size_t local_bytes() const;
};

// The largest first.
std::span<const LocalForm> all_local_forms();

// The form of a tile that is not wide.
LocalForm local_form_of(const ConvTile& tile);

// See conv_tile_candidates. The cheapest is the largest block that pixels fill and of which there are enough to keep
// every compute unit busy.
std::vector<Candidate<ConvTile>> local_tile_candidates(std::int64_t pixels, std::int64_t OC, const KernelCaps& caps);

}  // namespace headrace
