// SPDX-License-Identifier: Apache-2.0
// A convolution in numbers, made into a case of the operator harness.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "ops/conv_winograd.hpp"
#include "support/op_case.hpp"

namespace headrace::test {

using Ints = std::vector<std::int64_t>;

struct ConvCase {
  std::string type = "Convolution";
  Ints size{9, 10};  // spatial
  Ints kernel{3, 3};
  Ints stride{}, dilation{}, pads_begin{}, pads_end{}, output_padding{};  // empty: the default
  std::int64_t N = 1, G = 1, IC = 5, OC = 17;                             // IC and OC per group
  std::string auto_pad{};
  bool has_bias = false, has_residual = false;
  Activation activation = Activation::kNone;
  float alpha = 0.0F, beta = 0.0F;
};

void PrintTo(const ConvCase& c, std::ostream* out);

bool is_transposed(const ConvCase& c);

// [G,] OC, IC, kernel (IC, OC where transposed)
Shape weights_shape(const ConvCase& c);

// Data and constant weights in [-1, 1), bias and residual where wanted.
OpCase make_case(const ConvCase& c, std::uint32_t seed);

// The same convolution of bytes (QuantizedConvolution; the type and the groups of `c` are left out).
OpCase make_int8_case(const ConvCase& c, std::int64_t zero_point, std::uint32_t seed);

// Lowers a Convolution to this form of Winograd's, whatever is chosen for its shape.
LowerFunction lower_as(const WinogradForm& form);

}  // namespace headrace::test
