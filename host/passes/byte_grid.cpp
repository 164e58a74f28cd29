// SPDX-License-Identifier: Apache-2.0
#include "passes/byte_grid.hpp"

#include <algorithm>
#include <cmath>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kMaxLevels = 256;
constexpr double kLowestByte = -128, kHighestByte = 127;
// What f32 arithmetic may have moved a value by, relative to the largest one: a few roundings of 2^-24 each (a level's
// number times a range, plus its lower end, times a scale that was folded in).
constexpr double kRounding = 0x1p-21;

// To the nearest whole number, halves to even, for what is far below 2^51. std::nearbyint is a call, and this runs for
// every weight.
double rounded(double value) {
  constexpr double kToWhole = 0x1.8p52;
  return (value + kToWhole) - kToWhole;
}

// Whether every value is a whole multiple of the step, the multiples being bytes.
bool fits(const float* values, const ChannelWalk& walk, double step, double tolerance) {
  const double inverse = 1 / step;
  for (std::int64_t i = 0; i < walk.count; ++i) {
    const double level = static_cast<double>(values[i * walk.stride]) * inverse;
    const double nearest = rounded(level);
    if (std::fabs(level - nearest) > tolerance || nearest < kLowestByte || nearest > kHighestByte) return false;
  }
  return true;
}

// The step of the channel's coarsest grid; 1 where all values are zero.
std::optional<double> find_step(const float* values, const ChannelWalk& walk) {
  double largest = 0;
  for (std::int64_t i = 0; i < walk.count; ++i) {
    const double value = std::fabs(static_cast<double>(values[i * walk.stride]));
    if (!std::isfinite(value)) return std::nullopt;
    largest = std::max(largest, value);
  }
  if (largest == 0) return 1.0;
  for (double level = 1; level <= -kLowestByte; ++level) {
    if (fits(values, walk, largest / level, level * kRounding)) return largest / level;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LevelRange> level_range_of(const Graph& graph, const Node& node) {
  if (node.type != "FakeQuantize" || node.inputs.size() != 5) return std::nullopt;
  double range[4] = {};
  for (std::size_t i = 0; i < std::size(range); ++i) {
    const auto value = const_scalar(graph, node.inputs[i + 1]);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    range[i] = *value;
  }
  const auto [in_low, in_high, out_low, out_high] = range;
  if (!(in_low < in_high) || !(out_low < out_high)) return std::nullopt;
  return LevelRange{in_low, in_high, out_low, out_high, node.attributes.get_int("levels")};
}

std::optional<LevelGrid> level_grid_of(const Graph& graph, const Node& node) {
  const auto range = level_range_of(graph, node);
  if (!range || range->levels > kMaxLevels) return std::nullopt;
  const auto [in_low, in_high, out_low, out_high, levels] = *range;
  LevelGrid grid;
  grid.levels = levels;
  grid.in_low = static_cast<float>(in_low);
  grid.in_high = static_cast<float>(in_high);
  const auto steps = static_cast<double>(grid.levels - 1);
  grid.scale = (out_high - out_low) / steps;
  const double zero = -out_low / grid.scale;
  const double nearest = std::nearbyint(zero);
  if (nearest < 0 || nearest > steps || std::fabs(zero - nearest) > steps * kRounding) return std::nullopt;
  grid.zero_point = static_cast<std::int64_t>(nearest);
  return grid;
}

std::optional<ByteWeights> find_byte_weights(const Tensor& weights, const ChannelWalk& walk) {
  const Tensor source = weights.aligned_copy();
  const float* from = source.values<float>().data();
  ByteWeights found{Tensor(ElementType::i8, weights.shape()), {}};
  std::int8_t* to = found.values.mutable_values<std::int8_t>().data();
  for (std::int64_t channel = 0; channel < walk.channels; ++channel) {
    const std::int64_t first = channel * walk.channel_stride;
    const auto step = find_step(from + first, walk);
    if (!step) return std::nullopt;
    const double inverse = 1 / *step;
    for (std::int64_t i = 0; i < walk.count; ++i) {
      const std::int64_t at = first + i * walk.stride;
      to[at] = static_cast<std::int8_t>(rounded(static_cast<double>(from[at]) * inverse));
    }
    found.scales.push_back(*step);
  }
  return found;
}

}  // namespace headrace
