// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_matmul(OnnxContext& c) { return {c.binary("MatMul", c.input(0), c.input(1))}; }

PortRef scaled(OnnxContext& c, PortRef x, double factor) {
  return factor == 1 ? x : c.binary("Multiply", x, c.constant_like(factor, x));
}

// alpha * A' * B' + beta * C, where C broadcasts.
std::vector<PortRef> convert_gemm(OnnxContext& c) {
  for (std::size_t input = 0; input < 2; ++input) {
    const auto rank = c.maybe_rank(c.input(input));
    if (rank && *rank != 2 && c.opset() >= 7) {
      fail(ErrorCode::kBadModel,
           "input " + std::to_string(input) + " has rank " + std::to_string(*rank) + ", expected 2");
    }
  }
  const PortRef product =
      c.add("MatMul", 1, {c.input(0), c.input(1)},
            {{"transpose_a", text(c.attr_int("transA", 0) != 0)}, {"transpose_b", text(c.attr_int("transB", 0) != 0)}});
  const PortRef y = scaled(c, product, c.attr_float("alpha", 1));
  if (!c.has_input(2)) return {y};
  return {c.binary("Add", y, scaled(c, c.input(2), c.attr_float("beta", 1)))};
}

std::vector<PortRef> convert_einsum(OnnxContext& c) {
  return {c.add("Einsum", 7, c.all_inputs(), {{"equation", c.attr_string("equation", "")}})};
}

constexpr OnnxConverter kConverters[] = {
    {"MatMul", convert_matmul},
    {"Gemm", convert_gemm},
    {"Einsum", convert_einsum},
};

}  // namespace

std::span<const OnnxConverter> matmul_onnx() { return kConverters; }

}  // namespace headrace::detail
