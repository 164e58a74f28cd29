// SPDX-License-Identifier: Apache-2.0
// Shapes of layers that networks in wide use have: what `headrace tune --all` measures.
#pragma once

#include <cstdint>
#include <span>

namespace headrace {

// A convolution of batch 1 on a square picture; IC and OC per group. Padded as its output's size asks for.
struct OrdinaryConvolution {
  std::int64_t G, IC, OC;
  std::int64_t in, out;  // height and width
  std::int64_t KH, KW, stride, dilation;
};

// C[batch, M, N] = A[batch, M, K] * B[batch, K, N]
struct OrdinaryMatMul {
  std::int64_t batch, M, N, K;
  bool has_weights;  // B is a constant
};

std::span<const OrdinaryConvolution> ordinary_convolutions();
std::span<const OrdinaryMatMul> ordinary_matmuls();

}  // namespace headrace
