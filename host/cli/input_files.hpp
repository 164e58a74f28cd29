// SPDX-License-Identifier: Apache-2.0
// The inputs of a run: .npy files as the command line names them, or random values.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace {

struct InputFile {
  std::size_t input = 0;
  std::string path;
};

// Reads "NAME=FILE.npy" or, for the only input, "FILE.npy", before anything is compiled: a wrong file is told at once.
// Throws kInvalidArgument where an input is given twice or not at all.
std::vector<std::pair<InputFile, Tensor>> read_inputs(const std::vector<std::string>& texts,
                                                      const std::vector<PortInfo>& inputs);

// Floating inputs are uniform in [0, 1), the same for every call; others are zero, since they may be indices or sizes.
// Throws kInvalidArgument where the shape is open.
Tensor random_tensor(const PortInfo& input);

}  // namespace headrace
