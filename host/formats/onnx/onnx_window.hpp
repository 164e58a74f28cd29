// SPDX-License-Identifier: Apache-2.0
// The attributes that convolutions and pools share: strides, dilations, pads.
#pragma once

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {

struct OnnxWindow {
  Ints strides;
  Ints dilations;
  Ints pads_begin;
  Ints pads_end;
  std::string auto_pad;  // IR's word
};

// Reads the attributes for `spatial` axes, with ONNX's defaults. Throws kBadModel where a list has another length.
OnnxWindow onnx_window(const OnnxContext& c, std::size_t spatial);

// strides, dilations, pads_begin, pads_end and auto_pad as IR's text.
RawAttributes window_attributes(const OnnxWindow& window);

// One value per channel, as a tensor of `rank` dimensions that broadcasts over [N, C, ...].
PortRef per_channel(OnnxContext& c, PortRef values, std::size_t rank);

// The tensor under another shape: a constant shares its memory, anything else is reshaped.
PortRef reshape_constant(OnnxContext& c, PortRef x, const Shape& shape);

}  // namespace headrace::detail
