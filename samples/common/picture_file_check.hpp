// SPDX-License-Identifier: Apache-2.0
// Tells a whole picture file from one that was cut: decoders show what is there and keep quiet about the rest.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace headrace::samples {

// Returns what is wrong with the file's outer structure, or "" where it is whole or of a kind that is not known here.
std::string find_damage(std::span<const unsigned char> file);

}  // namespace headrace::samples
