// SPDX-License-Identifier: Apache-2.0
// What layers of Caffe and of its descendants (old IR) are made of where IR has no operator for the whole.
#pragma once

#include <string_view>
#include <vector>

#include "formats/import/emitter.hpp"

namespace headrace::detail {

// (shift + scale * x) ^ power, without the parts that change nothing.
PortRef add_power(Emitter& c, PortRef x, double power, double scale, double shift);

// max(x, 0) + slope * min(x, 0).
PortRef add_relu(Emitter& c, PortRef x, double negative_slope);

// The inputs joined by a binary operator, from the first to the last, each times its coefficient; no coefficients: 1.
// Throws kBadModel where coefficients are given, but not one for each input.
PortRef add_joined(Emitter& c, std::string_view type, const std::vector<PortRef>& inputs,
                   const std::vector<double>& coefficients);

// x times weights, a constant [OC, IC] or, transposed, [IC, OC]: the axes from `axis` on become one of IC elements.
PortRef add_fully_connected(Emitter& c, PortRef x, PortRef weights, std::int64_t axis, bool is_transposed);

// Local response normalization over `size` channels or, within a channel, over size x size pixels:
// x / (k + alpha / n * sum of squares) ^ beta, n the number of elements of a window.
struct LocalResponse {
  std::int64_t size = 5;
  double alpha = 1, beta = 0.75, k = 1;
  bool is_across_channels = true;
};
PortRef add_local_response(Emitter& c, PortRef x, const LocalResponse& form);

// x reshaped so that its axes stand from `axis` on in a tensor of `rank` axes: ones follow. For numpy's broadcast.
PortRef aligned_to_axis(Emitter& c, PortRef x, std::size_t axis, std::size_t rank);

// The part of x that begins at `offsets` along `axes` and is as large there as `like`.
PortRef add_crop(Emitter& c, PortRef x, PortRef like, const Ints& axes, const Ints& offsets);

// Height and width of the last two axes of an [N, C, H, W] tensor as a vector of two i64.
PortRef height_and_width(Emitter& c, PortRef x);

// Bilinear resampling of [N, C, H, W] with aligned corners.
PortRef add_bilinear(Emitter& c, PortRef x, PortRef height_width);

}  // namespace headrace::detail
