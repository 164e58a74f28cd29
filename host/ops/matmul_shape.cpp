// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul_shape.hpp"

#include <utility>

#include "core/error.hpp"

namespace headrace {
namespace {

Shape batch_of(const Shape& shape) { return shape.size() <= 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2); }

}  // namespace

Shape MatMulShape::output_shape() const {
  Shape shape = batch;
  if (!is_a_vector) shape.push_back(M);
  if (!is_b_vector) shape.push_back(N);
  return shape;
}

MatMulShape make_matmul_shape(const Node& node, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) fail(ErrorCode::kBadModel, "operands need at least one dimension, one is a scalar");
  MatMulShape shape;
  shape.is_a_vector = a.size() == 1;
  shape.is_b_vector = b.size() == 1;
  std::int64_t a_k = a.back();
  std::int64_t b_k = b.front();
  if (!shape.is_a_vector) {
    shape.M = a[a.size() - 2];
    if (node.attributes.get_bool("transpose_a")) std::swap(shape.M, a_k);
  }
  if (!shape.is_b_vector) {
    b_k = b[b.size() - 2];
    shape.N = b.back();
    if (node.attributes.get_bool("transpose_b")) std::swap(shape.N, b_k);
  }
  const auto batch = broadcast_shapes(batch_of(a), batch_of(b));
  if (a_k != b_k || !batch) {
    fail(ErrorCode::kBadModel, "operands of shapes " + to_string(a) + " and " + to_string(b) + " do not fit");
  }
  shape.K = a_k;
  shape.batch = *batch;
  return shape;
}

MatrixStrides matrix_strides(const Shape& shape, const std::vector<std::int64_t>& strides, const Shape& batch,
                             bool is_transposed, bool is_row) {
  MatrixStrides result;
  result.batch.assign(batch.size(), 0);
  const std::size_t rank = shape.size();
  if (rank == 1) {
    (is_row ? result.column : result.row) = strides[0];
    return result;
  }
  result.row = strides[rank - 2];
  result.column = strides[rank - 1];
  if (is_transposed) std::swap(result.row, result.column);
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (shape[i] != 1) result.batch[batch.size() - (rank - 2) + i] = strides[i];
  }
  return result;
}

}  // namespace headrace
