// SPDX-License-Identifier: Apache-2.0
#include "common/file_bytes.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "headrace/headrace.hpp"

namespace headrace::samples {

std::vector<unsigned char> read_file_bytes(const std::string& path, const std::string& what, std::uintmax_t max_gib) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) fail(ErrorCode::kIo, what + ": " + failed.message());
  if (size > max_gib << 30U) fail(ErrorCode::kBadModel, what + ": larger than " + std::to_string(max_gib) + " GiB");
  std::vector<unsigned char> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file) fail(ErrorCode::kIo, what + ": " + std::strerror(errno));
  return bytes;
}

}  // namespace headrace::samples
