// SPDX-License-Identifier: Apache-2.0
// The samples that `headrace quantize` calibrates on, as the command line names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/picture_process.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

struct QuantizeData {
  CalibrationData data;
  std::vector<std::int64_t> labels;  // by sample, where every line of the lists has one; else empty
};

// Finds the samples of "PATH" or "NAME=PATH" texts, before anything is compiled. A path is a folder (its .npy files and
// pictures, sorted by name), a list (lines of PATH [LABEL], relative to the list's folder), a .npy file or a picture.
// A .npy file holds one sample, or several along its first dimension. Several inputs are given together: the n-th
// sample of each. Files are read when a sample is wanted. Throws kIo or kInvalidArgument.
QuantizeData find_quantize_data(const std::vector<std::string>& texts, const std::vector<PortInfo>& inputs,
                                const PictureOptions& pictures);

}  // namespace headrace
