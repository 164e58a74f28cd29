// SPDX-License-Identifier: Apache-2.0
// The kernels to measure: operators of the shapes that known networks have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "support/placed_case.hpp"

namespace headrace::bench {

// A 2-D convolution with bias and ReLU, batch 1, pads of half a kernel; IC and OC per group.
struct ConvSize {
  std::int64_t G = 1, IC = 1, H = 1, W = 1, OC = 1, KH = 1, KW = 1, stride = 1;

  std::int64_t OH() const { return (H + KH / 2 * 2 - KH) / stride + 1; }
  std::int64_t OW() const { return (W + KW / 2 * 2 - KW) / stride + 1; }
};

// C = A * B, row-major: [batch, M, K] times [batch, K, N].
struct MatmulSize {
  std::int64_t batch = 1, M = 1, N = 1, K = 1;
  bool has_weights = true;  // B is a constant, which may be packed ahead
};

struct BenchCase {
  std::string name;                    // kind/network/sizes
  std::function<test::OpCase()> make;  // fills the tensors
  test::Order order = test::Order::kRowMajor;
  std::variant<std::monostate, ConvSize, MatmulSize> size{};  // for what other libraries compute too
};

std::vector<BenchCase> bench_cases();

// Operations and bytes (each tensor once) of one launch.
Cost cost_of(const test::OpCase& op_case);

}  // namespace headrace::bench
