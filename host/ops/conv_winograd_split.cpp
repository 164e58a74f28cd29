// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_winograd_split.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/conv_args.hpp"

namespace headrace {
namespace {

// Shares of a second-level cache: for transformed tiles or weights, and for sums.
constexpr std::int64_t kCacheBytes = 512 * 1024;
constexpr std::int64_t kSumsBytes = 256 * 1024;
// Few: each has scratch memory of its own.
constexpr std::int64_t kItemsPerUnit = 4;
// Of all work-items together. Large pictures with many channels would have gigabytes transformed at a time otherwise.
constexpr std::int64_t kMaxScratchBytes = 128 * 1024 * 1024;

class Splitter {
 public:
  Splitter(const ConvProblem& problem, const WinogradForm& form, std::int64_t tiles, const KernelCaps& caps)
      : form_(form),
        rows_(divide_up(tiles, form.tile.tile_m)),
        pairs_(divide_up(form.tile.vectors(problem.OC), form.tile.tile_n)),
        depth_(divide_up(problem.IC, form.tile.vec) * form.tile.vec),
        units_(caps.compute_units) {}

  // The split that moves the least memory among those that keep every compute unit busy and do not take too much. Of
  // the splits into as many ranges, or blocks of equal size, the smallest one is looked at: it moves least.
  WinogradSplit best() const {
    WinogradSplit best;
    std::pair<std::int64_t, double> least{std::numeric_limits<std::int64_t>::max(), 0};
    const std::int64_t most = kItemsPerUnit * units_;
    for (std::int64_t tiles = std::min(rows_, most); tiles > 0; --tiles) {
      for (std::int64_t channels = std::min(pairs_, most / tiles); channels > 0; --channels) {
        const std::int64_t rows_per_item = divide_up(rows_, tiles);
        const std::int64_t pairs_per_item = divide_up(pairs_, channels);
        const std::int64_t items = divide_up(rows_, rows_per_item) * divide_up(pairs_, pairs_per_item);
        if (items < std::min(units_, rows_ * pairs_)) continue;
        for (std::int64_t rows = rows_per_item; rows > 0; rows = next_block(rows_per_item, rows)) {
          const WinogradSplit split = make(rows_per_item, pairs_per_item, rows);
          const std::pair cost{excess_bytes(split), traffic(split, divide_up(rows_per_item, rows))};
          if (cost >= least) continue;
          best = split;
          least = cost;
        }
      }
    }
    return best;
  }

 private:
  // The rows of the next smaller block that divides an item evenly; 0 behind the smallest.
  static std::int64_t next_block(std::int64_t rows_per_item, std::int64_t rows) {
    return rows == 1 ? 0 : divide_up(rows_per_item, divide_up(rows_per_item, rows - 1));
  }

  WinogradSplit make(std::int64_t rows_per_item, std::int64_t pairs_per_item, std::int64_t rows_per_block) const {
    WinogradSplit split;
    split.tile_ranges = divide_up(rows_, rows_per_item);
    split.channel_ranges = divide_up(pairs_, pairs_per_item);
    split.block = rows_per_block * form_.tile.tile_m;
    split.tiles_per_item = rows_per_item * form_.tile.tile_m;
    split.vectors_per_item = pairs_per_item * form_.tile.tile_n;
    const std::int64_t pair_bytes = 4 * form_.products() * split.block * form_.tile.tile_n * form_.tile.vec;
    split.chunk = std::clamp(kSumsBytes / pair_bytes, std::int64_t{1}, pairs_per_item) * form_.tile.tile_n;
    split.scratch_item = form_.products() * split.block * (depth_ + split.chunk * form_.tile.vec);
    return split;
  }

  // What the scratch memory takes beyond its bound.
  std::int64_t excess_bytes(const WinogradSplit& split) const {
    const std::int64_t bytes = 4 * split.items() * split.scratch_item;
    return std::max<std::int64_t>(bytes - kMaxScratchBytes, 0);
  }

  // Bytes between the caches of a core and what lies behind them.
  double traffic(const WinogradSplit& split, std::int64_t blocks) const {
    const std::int64_t weights = 4 * form_.products() * depth_ * split.vectors_per_item * form_.tile.vec;
    const std::int64_t source = 4 * form_.products() * depth_ * split.block;
    const std::int64_t chunks = divide_up(split.vectors_per_item, split.chunk);
    const double weight_reads = weights <= kCacheBytes ? 1 : static_cast<double>(blocks);
    // Computing a vector of the source takes as long as moving one: ranges of channels each do it anew.
    const double source_moves = 1.0 + (source <= kCacheBytes ? 0.0 : static_cast<double>(1 + chunks));
    return static_cast<double>(split.items()) *
           (weight_reads * static_cast<double>(weights) +
            static_cast<double>(blocks) * source_moves * static_cast<double>(source));
  }

  WinogradForm form_;
  std::int64_t rows_, pairs_, depth_, units_;
};

}  // namespace

WinogradSplit split_winograd(const ConvProblem& problem, const WinogradForm& form, std::int64_t tiles,
                             const KernelCaps& caps) {
  return Splitter(problem, form, tiles, caps).best();
}

}  // namespace headrace
