// SPDX-License-Identifier: Apache-2.0
// Helpers for operators that walk several strided tensors over one index space.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shape.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// A loop nest over a common index space: strides[operand][dimension] in elements, 0 where an operand is broadcast.
struct StridedLoop {
  std::vector<std::int64_t> dims;  // outermost first; empty for one element
  std::vector<std::vector<std::int64_t>> strides;
};

// Returns the strides by which `desc` is read over `shape` under numpy broadcasting (0 in stretched dimensions).
std::vector<std::int64_t> broadcast_strides(const TensorDesc& desc, const Shape& shape);

// Orders the dimensions by the first operand's strides (largest first), drops those of size 1 and merges neighbours
// that every operand walks as one. Give the output first: its innermost dimension then becomes the inner loop.
StridedLoop coalesce(const Shape& shape, std::vector<std::vector<std::int64_t>> strides);

// Whether the strides are those of a dense row-major tensor.
bool is_row_major(const TensorDesc& desc);
// Whether a tensor of rank >= 3 is channels-last: channel stride 1 and spatial strides regular (a view is fine).
bool is_channels_last(const TensorDesc& desc);
// Strides of a dense channels-last tensor of a logical NC[D][H]W shape.
std::vector<std::int64_t> channels_last_strides(const Shape& shape);
// Elements from the first to one past the last that the tensor touches; 0 for an empty tensor.
std::int64_t extent_elems(const TensorDesc& desc);

// Kernels index with int: refuses tensors that reach past 2^31 - 1 elements.
Support supports_int_index(std::span<const LowerInput> inputs, std::span<const TensorDesc> outputs);

// Checks the number of inputs; throws kBadModel "expects N inputs, has M".
void check_input_count(const Node& node, std::size_t count, std::size_t at_least, std::size_t at_most);

// Runs the operator's reference and then the node's epilogue (bias, residual, activation), all on dense tensors.
void run_reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs);

// Inputs of the operator proper: without the extra ones that an epilogue added at the end.
std::size_t count_op_inputs(const Node& node);

// Scalar form of an activation, in double: the meaning that kernels are tested against. NaN stays NaN.
double apply_activation(Activation activation, double alpha, double beta, double value);

// One-line dtype suffix of kernel entries: "f32", "i8", ...
std::string dtype_suffix(ElementType type);

}  // namespace headrace
