// SPDX-License-Identifier: Apache-2.0
// Building the argument lists of convolution kernels.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ops/conv_shape.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

inline bool is_set(const Operand& operand) { return operand.kind != Operand::Kind::kNull; }

// Kernel arguments in order. Integers become the kernels' int: supports_int_index has checked that they fit.
class ArgList {
 public:
  void add(const Operand& operand) { args_.emplace_back(operand); }
  void add(float value) { args_.emplace_back(value); }
  void add(std::int64_t value) { args_.emplace_back(static_cast<std::int32_t>(value)); }
  void add(const Triple& values) {
    for (const std::int64_t value : values) add(value);
  }
  // has_bias, has_residual
  void add_flags(const Operand& bias, const Operand& residual) {
    add(std::int64_t{is_set(bias)});
    add(std::int64_t{is_set(residual)});
  }
  std::vector<LowerArg> take() { return std::move(args_); }

 private:
  std::vector<LowerArg> args_;
};

}  // namespace headrace
