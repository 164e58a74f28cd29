// SPDX-License-Identifier: Apache-2.0
// Weights in bytes, in the form that readers of IR look for.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "passes/rewriter.hpp"

namespace headrace {

// i8 of the weights' shape, -127 to 127, and the scale of each output channel: weight = value * scale, rounded.
struct SymmetricWeights {
  Tensor values;
  Tensor scales;  // f32; the weights' shape with 1 for every axis but those of the output channels
};

// `axes` as output_channel_axes tells; weights are finite f32. A channel of zeros has the scale 1.
SymmetricWeights quantize_symmetric(const Tensor& weights, const std::vector<std::size_t>& axes);

// Puts i8 Const -> Convert -> Multiply by the scales in place of constant weights, once for all layers that read them
// by the same channels.
class WeightsQuantizer {
 public:
  explicit WeightsQuantizer(Rewriter& rewriter) : rewriter_(rewriter) {}

  // What input 1 of the layer shall read.
  PortRef quantize(NodeId layer);

 private:
  Rewriter& rewriter_;
  std::map<std::pair<PortRef, std::vector<std::size_t>>, PortRef> made_;
};

}  // namespace headrace
