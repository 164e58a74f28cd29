// SPDX-License-Identifier: Apache-2.0
// Geometry of MatMul: M, N, K and the batch dimensions, with every operand's strides over them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shape.hpp"
#include "graph/graph.hpp"

namespace headrace {

// C[batch..., M, N] = A[batch..., M, K] * B[batch..., K, N] after the transposes. A 1-D A is one row, a 1-D B one
// column; the output lacks that dimension.
struct MatMulShape {
  Shape batch;  // broadcast
  std::int64_t M = 1, N = 1, K = 1;
  bool is_a_vector = false, is_b_vector = false;

  Shape output_shape() const;
};

// Throws kBadModel where the shapes do not fit.
MatMulShape make_matmul_shape(const Node& node, const Shape& a, const Shape& b);

// How an operand is walked: strides over MatMulShape::batch (0 where it is broadcast), rows and columns.
struct MatrixStrides {
  std::vector<std::int64_t> batch;
  std::int64_t row = 0, column = 0;
};

// The matrix strides of a tensor of this shape and strides. `is_row` tells what a 1-D tensor is.
MatrixStrides matrix_strides(const Shape& shape, const std::vector<std::int64_t>& strides, const Shape& batch,
                             bool is_transposed, bool is_row);

}  // namespace headrace
