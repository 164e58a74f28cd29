// SPDX-License-Identifier: Apache-2.0
// How a launch of winograd_wide.cl is shared out.
#pragma once

#include <cstdint>

#include "ops/conv_winograd.hpp"

namespace headrace {

// `tile_ranges` * `channel_ranges` work-items, which transform `block` tiles of the image at a time and sum them for
// `chunk` vectors of channels at a time, in `scratch_item` floats of scratch memory each.
struct WinogradSplit {
  std::int64_t tile_ranges = 1, channel_ranges = 1;
  std::int64_t tiles_per_item = 1, vectors_per_item = 1, block = 1, chunk = 1, scratch_item = 0;

  std::int64_t items() const { return tile_ranges * channel_ranges; }
};

// For a problem of `tiles` tiles of the image. Keeps the scratch memory of all work-items below 128 MiB where a
// register tile of tiles for each compute unit does.
WinogradSplit split_winograd(const ConvProblem& problem, const WinogradForm& form, std::int64_t tiles,
                             const KernelCaps& caps);

}  // namespace headrace
