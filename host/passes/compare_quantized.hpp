// SPDX-License-Identifier: Apache-2.0
// Layers of a network in floats beside the same layers in bytes, both on the float network's data.
#pragma once

#include <vector>

#include "passes/insert_fake_quantize.hpp"

namespace headrace {

// Outputs of the graph, by their place among its Results, that tell what quantization does to one layer in one run.
struct LayerComparison {
  NodeId node;
  std::size_t shift = 0;  // [OC]: mean over all other axes of the layer's result minus that of its twin
  std::size_t error = 0;  // one element: mean square of that difference
  std::size_t power = 0;  // one element: mean square of the layer's result
};

// Adds a twin of every layer, which reads quantized data and weights, and the outputs that compare both. Everything
// that was there stays. Shapes may be open; what is added is not resolved. Only reduced tensors become outputs, so
// that the memory which a run takes hardly grows.
std::vector<LayerComparison> add_quantized_twins(Graph& graph, const std::vector<QuantizableLayer>& layers,
                                                 const ByteRanges& ranges);

}  // namespace headrace
