// SPDX-License-Identifier: Apache-2.0
// What is known of a tensor while a model is read.
#pragma once

#include <array>
#include <optional>

#include "core/tensor.hpp"

namespace headrace::detail {

// What is known of a tensor before the network's inputs have shapes. Unknown dimensions are tried with two sets of
// numbers: what comes out the same for both does not depend on them. Models with static inputs need one set.
struct KnownTensor {
  struct Trial {
    std::optional<Shape> shape;
    std::optional<Tensor> value;  // of constants, and of what is computed from constants and shapes
  };
  std::optional<ElementType> type;
  std::array<Trial, 2> trials;
  // The values agree though what they come from does not (a comparison of an unknown dimension, say): true of these
  // numbers only.
  bool is_accidental = false;
};

}  // namespace headrace::detail
