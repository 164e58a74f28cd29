// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1.0 to 3.0: one dense little-endian array each.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/tensor.hpp"

namespace headrace {

// Reads an array of float16, 32 or 64, of integers of 8 to 64 bits, or of bool; Fortran order is turned into C order.
// Throws kIo where the file cannot be read, kUnsupported for another dtype (naming it), kBadModel for a damaged file;
// each with the path.
Tensor read_npy(const std::string& path);

// Reads an array from a file's bytes; the result owns its memory. Throws kUnsupported or kBadModel.
Tensor parse_npy(std::span<const std::byte> bytes);

// Writes version 1.0 in C order, by temporary name and rename; bf16, which NumPy lacks, as float32. Throws kIo.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace headrace
