// SPDX-License-Identifier: Apache-2.0
// Launches of depthwise_wide.cl and depthwise_tile.cl: group convolutions with one input and one output channel per
// group.
#pragma once

#include <vector>

#include "ops/conv_problem.hpp"
#include "ops/conv_shape.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// Whether the depthwise kernels compute this shape: 1-D or 2-D, not transposed, multiplier 1.
bool fits_depthwise(const ConvShape& shape);

// How an instance of the depthwise kernels works.
struct DepthwiseForm {
  int vec = 16;  // channels of a vector, which the weights of a tap are rounded up to; depthwise_tile.cl: 1
  bool is_wide = true;

  KernelInstance instance() const;
};

// The forms that the device offers. Costs count vectors of channels.
std::vector<Candidate<DepthwiseForm>> depthwise_candidates(std::int64_t channels, const KernelCaps& caps);
std::vector<KernelInstance> all_depthwise_instances();

// The launch for a problem that fits; `wei` is [G, 1, 1, taps...].
Lowered lower_depthwise(ConvProblem problem, const Tensor& wei, const DepthwiseForm& form, const KernelCaps& caps);

}  // namespace headrace
