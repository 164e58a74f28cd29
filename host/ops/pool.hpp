// SPDX-License-Identifier: Apache-2.0
// Pooling over windows that are given per axis as lists: one form for MaxPool, AvgPool and the adaptive ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/descriptor.hpp"

namespace headrace {

// The part of one output coordinate's window that lies inside the input: start, start + dilation, ... (count of them).
// A window wholly in the padding has count 0.
struct PoolWindow {
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::int64_t divisor = 1;  // what an average divides by along this axis
};

struct PoolAxis {
  std::vector<PoolWindow> windows;  // one for each output coordinate
  std::int64_t dilation = 1;
};

using PoolAxes = std::vector<PoolAxis>;  // D, H, W or fewer

enum class PoolKind { kMax, kAverage };

// Windows of MaxPool and AvgPool from their attributes. Throws kBadModel where they do not fit the spatial shape.
PoolAxes make_pool_axes(const Node& node, const Shape& spatial);
// Windows of the adaptive pools: coordinate i of O covers floor(i * I / O) to ceil((i + 1) * I / O).
PoolAxes make_adaptive_axes(const Shape& spatial, const Shape& output);

Shape spatial_shape(const Shape& shape);
Shape pooled_shape(const Shape& input, const PoolAxes& axes);

struct PoolSpec {
  PoolKind kind = PoolKind::kMax;
  PoolAxes axes;
  std::size_t index_axis = 0;  // indices count elements of the dimensions from this one on
};

// Values to outputs[0] and, where there is a second output, places of the maxima to outputs[1]. Maxima take the first
// of equal values and NaN over everything; a window wholly in the padding gives the type's lowest value, place 0, or an
// average of 0.
void pool_reference(const PoolSpec& spec, const Tensor& input, std::span<Tensor> outputs);

Support pool_supports(PoolKind kind, std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs,
                      const KernelCaps& caps);
LayoutRules pool_layouts();
Lowered pool_lower(const PoolSpec& spec, const TensorDesc& input, std::span<const TensorDesc> outputs,
                   const KernelCaps& caps);
std::vector<KernelInstance> pool_instances();
Cost pool_cost(const PoolAxes& axes, std::span<const InferInput> inputs, std::span<const InferOutput> outputs);

}  // namespace headrace
