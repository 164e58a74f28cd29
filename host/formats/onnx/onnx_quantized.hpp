// SPDX-License-Identifier: Apache-2.0
// Scales and zero points, which several quantized operators share.
#pragma once

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {

// Where a scale or zero point of rank 1 belongs: to an axis of a tensor of `rank` dimensions. Rank 0: it broadcasts as
// it is.
struct OnnxAxis {
  std::size_t rank = 0;
  std::size_t axis = 0;
};

// A tensor of one value as a scalar, one of rank 1 along the axis.
PortRef along_axis(OnnxContext& c, PortRef values, OnnxAxis axis);

// x - zero point, converted first to `type`, which must hold the difference.
PortRef without_zero_point(OnnxContext& c, PortRef x, std::optional<PortRef> zero_point, ElementType type,
                           OnnxAxis axis);

// saturate(round half to even(x) + zero point) in the zero point's type, u8 without one. x is a float, scaled already.
PortRef quantize(OnnxContext& c, PortRef x, std::optional<PortRef> zero_point, OnnxAxis axis);

}  // namespace headrace::detail
