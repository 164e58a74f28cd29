// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.hpp"

namespace headrace {

// Convolution (one group, one or two dimensions) and MatMul whose data come from a FakeQuantize of at most 256 levels
// with one range, straight or through operators that only choose elements, and whose constant weights lie on a grid of
// bytes per output channel, become QuantizedConvolution and QuantizedMatMul on the numbers of the levels
// (QuantizeLevels, one for all readers of a tensor). Everything else stays. Results are kept but for the rounding of
// f32, with one exception: a byte has no NaN, so a NaN in quantized data counts as the lowest level.
// Runs behind the fusions, whose epilogues it takes over, and only for devices that multiply bytes faster than floats.
void quantize_to_int8(Graph& graph);

}  // namespace headrace
