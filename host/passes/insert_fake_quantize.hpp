// SPDX-License-Identifier: Apache-2.0
// Makes a network with FakeQuantize of one in floats.
#pragma once

#include <map>
#include <vector>

#include "passes/quantizable_layers.hpp"
#include "passes/rewriter.hpp"

namespace headrace {

// The first and the last of 256 levels; zero is one of them.
struct ByteRange {
  float low = 0.0F;
  float high = 1.0F;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The range of bytes for values from `low` to `high` (finite, low <= high): unsigned from zero on where none is below
// zero; else signed with level 128 for zero where symmetric, or widened to hold zero and moved so that zero is a level.
ByteRange byte_range_for(double low, double high, bool is_symmetric);

// One range for each tensor that a quantized layer reads.
using ByteRanges = std::map<PortRef, ByteRange>;

// Adds a FakeQuantize of 256 levels behind the tensor, which nothing reads yet. Shapes may be open.
PortRef add_fake_quantize(Rewriter& rewriter, PortRef data, const ByteRange& range);

// Lets the layers read their data through a FakeQuantize (one for all readers of a tensor; others go on reading the
// tensor itself) and their weights from bytes with a scale per output channel. A network input or output stays as it
// is. Throws kInternal where a layer's tensor has no range.
void insert_fake_quantize(Graph& graph, const std::vector<QuantizableLayer>& layers, const ByteRanges& ranges);

}  // namespace headrace
