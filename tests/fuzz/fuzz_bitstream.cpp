// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the bitstream reader: it must throw Error or give a value that writes and reads back.
// Input that starts with '{' is put into a container with right hashes, since a fuzzer cannot guess a SHA-256.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "device/opencl/bitstream.hpp"
#include "device/opencl/sha256.hpp"

namespace {

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

// A container of two sections: the manifest, and a source that its images may name. See bitstreams/README.md.
std::string wrap(std::string_view manifest) {
  constexpr std::uint64_t kFirst = 4096;
  const std::uint64_t second = (kFirst + manifest.size() + 4095) / 4096 * 4096;
  constexpr std::string_view kSource = "__kernel void k() {}";
  std::string table;
  const auto add = [&](std::uint32_t kind, std::uint64_t offset, std::string_view bytes) {
    put(table, kind, 4);
    put(table, 0, 4);
    put(table, offset, 8);
    put(table, bytes.size(), 8);
    table += headrace::sha256_bytes(bytes) + std::string(72, '\0');
  };
  add(1, kFirst, manifest);
  add(3, second, kSource);
  std::string file("\x89HRB\r\n\x1a\n", 8);
  put(file, 1, 4);
  put(file, 2, 4);
  put(file, second + kSource.size(), 8);
  put(file, 64, 8);
  file += headrace::sha256_bytes(table) + table;
  file.resize(kFirst, '\0');
  file += manifest;
  file.resize(second, '\0');
  file += kSource;
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("{")) bytes = wrap(bytes);
  try {
    const headrace::Bitstream bitstream = headrace::parse_bitstream(bytes, "fuzz");
    const std::string written = headrace::serialize_bitstream(bitstream);
    if (headrace::serialize_bitstream(headrace::parse_bitstream(written, "fuzz")) != written) std::abort();
  } catch (const headrace::Error&) {
    // The expected answer to damage.
  }
  return 0;
}
