// SPDX-License-Identifier: Apache-2.0
// Whole files: read with a size limit, written by temporary name and rename.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// Reads a file. Throws kIo naming the path where it cannot be read, is no regular file or is larger than the limit.
std::string read_file(const std::string& path, std::size_t max_bytes);

// Replaces a file in one step: readers see the old or the new contents. Makes missing folders. Leaves no temporary file
// behind. Throws kIo naming the path and the system's reason.
void write_file_atomically(const std::string& path, std::string_view contents);

}  // namespace headrace
