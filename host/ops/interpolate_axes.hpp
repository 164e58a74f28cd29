// SPDX-License-Identifier: Apache-2.0
// Interpolation is separable: every mode is, along each axis, a short weighted sum of input elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/shape.hpp"

namespace headrace {

struct InterpolateTap {
  std::int64_t index = 0;  // of the unpadded input; 0 with weight 0 where the tap reads padding
  double weight = 0;
};

// The taps of one output coordinate; they all have the same number within an axis.
struct InterpolateAxis {
  std::size_t axis = 0;  // dimension of the tensor
  std::int64_t taps = 1;
  std::vector<InterpolateTap> table;  // [output coordinate][tap]
};

// What decides the taps of one axis.
struct InterpolateRule {
  std::string mode;         // nearest, linear, linear_onnx, cubic, bilinear_pillow, bicubic_pillow
  std::string coordinates;  // coordinate_transformation_mode
  std::string nearest_mode;
  bool antialias = false;  // of linear: any axis shrinks and the attribute is set
  double cube_coeff = -0.75;
};

struct InterpolateSize {
  std::int64_t input = 1;  // with padding
  std::int64_t output = 1;
  double scale = 1;  // output / input, or as given
  std::int64_t pad_begin = 0;
  std::int64_t unpadded = 1;
};

InterpolateAxis make_interpolate_axis(const InterpolateRule& rule, std::size_t axis, const InterpolateSize& size);

}  // namespace headrace
