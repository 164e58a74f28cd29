// SPDX-License-Identifier: Apache-2.0
#include "ops/half_weights.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "core/parallel.hpp"

namespace headrace {
namespace {

// Fewer weights stay in a cache of the second level, where reading them is no hardship.
constexpr std::int64_t kMinWeights = 64 * 1024;

constexpr std::uint32_t kLeast = 0x33800000;        // 2^-24
constexpr std::uint32_t kLeastNormal = 0x38800000;  // 2^-14
constexpr std::uint32_t kLargest = 0x477fe000;      // 65504

// A tile of one pixel uses each weight once.
bool is_bound_by_weights(const ConvTile& tile) { return tile.is_wide && tile.tile_m == 1; }

// All bits that f16 would lose are zero; below 2^-14 it counts in steps of 2^-24, which are those of floats near 0.5.
// No branches: compilers make vectors of a loop over it.
bool is_exact(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & 0x7fffffff;
  const float magnitude = std::bit_cast<float>(bits);
  const bool is_normal = (bits >= kLeastNormal) & (bits <= kLargest) & ((bits & 0x1fff) == 0);
  const bool is_small = (bits >= kLeast) & (bits < kLeastNormal) & ((magnitude + 0.5F) - 0.5F == magnitude);
  return is_normal | is_small | (bits == 0);
}

bool are_exact(std::span<const float> values) {
  unsigned inexact = 0;
  for (const float value : values) inexact |= is_exact(value) ? 0U : 1U;
  return inexact == 0;
}

}  // namespace

bool is_exact_in_half(const Tensor& values) {
  // Most tensors have a value early on that is not exact; the rest is looked at on all cores.
  constexpr std::size_t kFirst = 1024;
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  const Tensor source = values.aligned_copy();
  const auto all = source.values<float>();
  if (!are_exact(all.first(std::min(kFirst, all.size())))) return false;
  std::atomic<bool> is_all = true;
  parallel_for((all.size() + kPiece - 1) / kPiece, [&](std::size_t i) {
    const auto piece = all.subspan(i * kPiece, std::min(kPiece, all.size() - i * kPiece));
    if (is_all && !are_exact(piece)) is_all = false;
  });
  return is_all;
}

std::vector<ConvTile> all_half_tiles() {
  std::vector<ConvTile> tiles;
  for (ConvTile tile : all_conv_tiles()) {
    if (!is_bound_by_weights(tile)) continue;
    tile.has_half_weights = true;
    tiles.push_back(tile);
  }
  return tiles;
}

std::optional<ConvTile> with_half_weights(const ConvTile& tile, const Tensor& wei, const KernelCaps& caps) {
  ConvTile half = tile;
  half.has_half_weights = true;
  if (!is_bound_by_weights(tile) || wei.count() < kMinWeights || !caps.offers(half.instance())) return std::nullopt;
  if (!is_exact_in_half(wei)) return std::nullopt;
  return half;
}

}  // namespace headrace
