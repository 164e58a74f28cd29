// SPDX-License-Identifier: Apache-2.0
// Geometry of the four convolution operators: attributes and shapes resolved to numbers, padded to three dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/shape.hpp"
#include "graph/graph.hpp"

namespace headrace {

// Depth, height, width; a 1-D convolution has depth and height 1.
using Triple = std::array<std::int64_t, 3>;

struct ConvShape {
  bool is_transposed = false;
  std::size_t spatial_rank = 2;
  std::int64_t N = 1, G = 1;
  std::int64_t IC = 1, OC = 1;  // per group
  Triple in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
  Triple stride{1, 1, 1}, dilation{1, 1, 1}, pad_begin{0, 0, 0};

  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // [N, C, spatial...]
  Shape output_shape() const;
  // All that decides how fast a form is, as text: "conv n1 g1 ic64 oc64 out1x56x56 k1x3x3 s1x1x1 d1x1x1".
  std::string shape_class(std::string_view kind) const;
};

bool is_group_convolution(const Node& node);
bool is_transposed_convolution(const Node& node);

// Resolves auto_pad, output_padding and defaults. `out_spatial` is the value of a transposed convolution's optional
// third input. Throws kBadModel where attributes and shapes do not fit each other.
ConvShape make_conv_shape(const Node& node, const Shape& src, const Shape& wei,
                          const std::optional<Shape>& out_spatial);

}  // namespace headrace
