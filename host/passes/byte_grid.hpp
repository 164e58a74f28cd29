// SPDX-License-Identifier: Apache-2.0
// Tensors whose values lie on an even grid of at most 256 levels, so that bytes can stand for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// A FakeQuantize with one range for the whole tensor, in_low < in_high and out_low < out_high, all finite.
struct LevelRange {
  double in_low = 0.0, in_high = 1.0, out_low = 0.0, out_high = 1.0;
  std::int64_t levels = 256;
};

// Nothing where the node is no such FakeQuantize.
std::optional<LevelRange> level_range_of(const Graph& graph, const Node& node);

// What a FakeQuantize with one range for the whole tensor gives: (level - zero_point) * scale, zero among them.
struct LevelGrid {
  float in_low = 0.0F, in_high = 1.0F;  // the range in which it tells levels apart
  std::int64_t levels = 256;
  double scale = 1.0;
  std::int64_t zero_point = 0;
  friend auto operator<=>(const LevelGrid&, const LevelGrid&) = default;
};

// Nothing where the node is no such FakeQuantize, has more than 256 levels or none of them is zero.
std::optional<LevelGrid> level_grid_of(const Graph& graph, const Node& node);

// values i8 of the weights' shape and one scale per output channel: weight = value * scale but for the rounding of f32.
struct ByteWeights {
  Tensor values;
  std::vector<double> scales;
};

// Where the weights of output channel c lie: element c * channel_stride + i * stride, i < count.
struct ChannelWalk {
  std::int64_t channels = 0, count = 0;
  std::int64_t channel_stride = 0, stride = 0;
};

// Finds for every channel the coarsest grid around zero that holds all its f32 weights, however the file wrote them (i8
// constants, FakeQuantize, scales folded in); nothing where a channel has none. Complexity: 128 times the number of
// weights at worst; grids that don't fit fail after a few.
std::optional<ByteWeights> find_byte_weights(const Tensor& weights, const ChannelWalk& walk);

}  // namespace headrace
