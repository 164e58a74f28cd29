// SPDX-License-Identifier: Apache-2.0
// Matrix products on every OpenCL device.
#include <gtest/gtest.h>

#include "support/op_case.hpp"

namespace headrace::test {
namespace {

struct MatMulCase {
  Shape a, b;
  bool is_a_transposed = false, is_b_transposed = false;
  bool has_bias = false, has_residual = false;
  Activation activation = Activation::kNone;
};

OpCase make_case(const MatMulCase& c) {
  OpCase op_case;
  op_case.type = "MatMul";
  op_case.attributes = {{"transpose_a", c.is_a_transposed ? "true" : "false"},
                        {"transpose_b", c.is_b_transposed ? "true" : "false"}};
  op_case.inputs = {random_tensor(c.a, 1), random_tensor(c.b, 2)};
  op_case.epilogue.activation = c.activation;
  const Shape dst = make_node(op_case).outputs[0].shape;
  if (c.has_bias) {
    op_case.epilogue.bias_input = 2;
    op_case.constants.push_back(2);
    op_case.inputs.push_back(random_tensor({dst.back()}, 3));
  }
  if (c.has_residual) {
    op_case.epilogue.residual_input = static_cast<std::int32_t>(op_case.inputs.size());
    op_case.inputs.push_back(random_tensor(dst, 4));
  }
  return op_case;
}

// Each product is run with B constant (packed once) and not (packed by a kernel).
void check(const MatMulCase& c) {
  SCOPED_TRACE(to_string(c.a) + (c.is_a_transposed ? "^T x " : " x ") + to_string(c.b) +
               (c.is_b_transposed ? "^T" : ""));
  OpCase op_case = make_case(c);
  check_op(op_case);
  op_case.constants.push_back(1);
  check_op(op_case);
}

TEST(MatMulOpTest, SizesAroundTiles) {
  for (const std::int64_t m : {1, 2, 5, 7, 13, 14, 15, 28, 29}) {
    for (const std::int64_t n : {1, 3, 15, 16, 17, 33, 64, 130}) check({{m, 19}, {19, n}});
  }
  for (const std::int64_t k : {1, 2, 15, 16, 17, 511, 512, 513, 1100}) {
    check({{3, k}, {k, 20}});
    check({{15, k}, {k, 40}});
  }
}

// What f16 holds, denormals included; `scale` is a power of two.
Tensor half_tensor(const Shape& shape, float scale) {
  Tensor tensor = random_tensor(shape, 2);
  for (float& value : tensor.mutable_values<float>()) value = half_to_float(float_to_half(value * scale));
  return tensor;
}

// Weights that f16 holds exactly are kept so where there are few rows: around the tiles, and with weights so small
// that a device which flushes denormals would lose them all.
TEST(MatMulOpTest, HalfWeights) {
  const Shape shapes[] = {{65'600, 1}, {22'000, 3}, {4'200, 16}, {4'101, 17}, {1'100, 127},
                          {513, 128},  {512, 129},  {511, 130},  {2, 33'000}, {1, 66'000}};
  for (const float scale : {60'000.0F, 0x1p-15F}) {
    for (const Shape& b : shapes) {
      MatMulCase c{{1, b[0]}, b};
      c.has_bias = b[1] > 16;
      c.activation = b[1] == 129 ? Activation::kRelu : Activation::kNone;
      SCOPED_TRACE(to_string(b) + " times " + std::to_string(scale));
      OpCase op_case = make_case(c);
      op_case.inputs[1] = half_tensor(b, scale);
      for (float& value : op_case.inputs[0].mutable_values<float>()) value /= scale;
      op_case.constants.push_back(1);
      check_op(op_case);
    }
  }
}

TEST(MatMulOpTest, HalfWeightsOfSomeRowsTransposedAndInBatches) {
  for (const Shape& a : {Shape{2, 520}, {5, 520}, {6, 520}, {3, 1, 520}, {2, 2, 520}}) {
    for (const bool has_batch : {false, true}) {
      if (has_batch && a.size() == 2) continue;
      MatMulCase c{a, has_batch ? Shape{a[0], 140, 520} : Shape{140, 520}, false, true};
      SCOPED_TRACE(to_string(a));
      OpCase op_case = make_case(c);
      op_case.inputs[1] = half_tensor(c.b, 1.0F);
      op_case.constants.push_back(1);
      check_op(op_case);
    }
  }
}

TEST(MatMulOpTest, Transposes) {
  for (const bool is_a_transposed : {false, true}) {
    for (const bool is_b_transposed : {false, true}) {
      check({is_a_transposed ? Shape{40, 30} : Shape{30, 40}, is_b_transposed ? Shape{21, 40} : Shape{40, 21},
             is_a_transposed, is_b_transposed});
      check({is_a_transposed ? Shape{2, 3, 6, 1} : Shape{2, 3, 1, 6},
             is_b_transposed ? Shape{2, 3, 5, 6} : Shape{2, 3, 6, 5}, is_a_transposed, is_b_transposed});
    }
  }
}

TEST(MatMulOpTest, Vectors) {
  check({{3}, {3, 1}});
  check({{3}, {3}});
  check({{4, 3}, {3}});
  check({{3}, {2, 3, 5}});
  check({{2, 4, 3}, {3}});
  check({{3}, {3, 40}, true, false});
}

TEST(MatMulOpTest, BroadcastBatches) {
  check({{1, 1, 4, 5}, {3, 5, 6}});
  check({{4, 5}, {3, 2, 5, 6}});
  check({{3, 2, 4, 5}, {5, 6}});
  check({{3, 1, 4, 5}, {1, 2, 5, 6}});
  check({{2, 3, 4, 5}, {2, 1, 5, 6}});
  check({{2, 3, 4, 5}, {1, 3, 5, 6}});
  check({{2, 1, 3, 1, 4, 5}, {1, 2, 1, 3, 5, 6}});
  check({{2, 3, 2, 3, 4, 5}, {2, 1, 2, 1, 5, 6}});
}

TEST(MatMulOpTest, Epilogue) {
  for (const auto activation : {Activation::kNone, Activation::kRelu, Activation::kGeluErf}) {
    check({{30, 20}, {20, 40}, false, false, true, true, activation});
    check({{2, 3, 20}, {20, 17}, false, false, true, true, activation});
    check({{2, 3, 20}, {2, 20, 17}, false, false, true, true, activation});
    check({{1, 20}, {20, 17}, false, false, true, false, activation});
  }
}

TEST(MatMulOpTest, TileFamily) {
  for (const std::size_t max_work_group : {256, 16, 1}) {
    for (const MatMulCase& c :
         {MatMulCase{{30, 20}, {20, 70}, false, false, true, true, Activation::kRelu},
          MatMulCase{{3, 1, 20, 4}, {1, 2, 5, 20}, true, true}, MatMulCase{{2, 3, 4, 5}, {2, 1, 5, 6}}}) {
      OpCase op_case = make_case(c);
      check_op_tile_family(op_case, max_work_group);
      op_case.constants.push_back(1);
      check_op_tile_family(op_case, max_work_group);
    }
  }
}

TEST(MatMulOpTest, NarrowVectors) {
  for (const int width : {8, 4}) {
    for (const std::int64_t n : {3, 8, 21, 70}) {
      check_op_as(make_case({{9, 20}, {20, n}, false, false, true, true, Activation::kRelu}),
                  [width](KernelCaps& caps) { caps.vector_width = width; });
    }
  }
}

TEST(MatMulOpTest, RefusesWhatHasNoKernel) {
  OpCase c;
  c.type = "MatMul";
  c.inputs = {random_tensor({4, 3}, 1), random_tensor({3}, 2), random_tensor({4}, 3)};
  c.epilogue.bias_input = 2;
  check_op_refused(c, "matrix-vector");
}

}  // namespace
}  // namespace headrace::test
