// SPDX-License-Identifier: Apache-2.0
// Lowering of interpolation to kernels/interpolate_wide.cl.
#pragma once

#include <vector>

#include "ops/descriptor.hpp"
#include "ops/interpolate_axes.hpp"

namespace headrace {

Support interpolate_supports(const std::vector<InterpolateAxis>& axes, const TensorDesc& input, const KernelCaps& caps);
// Input 0 to output 0, any strides; fast where a dimension that keeps its size has stride 1 (channels-last).
Lowered interpolate_lower(const std::vector<InterpolateAxis>& axes, const TensorDesc& input, const TensorDesc& output,
                          const KernelCaps& caps);
std::vector<KernelInstance> interpolate_instances();

}  // namespace headrace
