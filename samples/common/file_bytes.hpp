// SPDX-License-Identifier: Apache-2.0
// Reads files that somebody else wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::samples {

// The bytes of a file of at most `max_gib` GiB. `what` stands for it in messages ("picture 'cat.png'").
// Throws kIo, or kBadModel where it is larger.
std::vector<unsigned char> read_file_bytes(const std::string& path, const std::string& what, std::uintmax_t max_gib);

}  // namespace headrace::samples
