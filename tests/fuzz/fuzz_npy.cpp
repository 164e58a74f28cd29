// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the .npy reader.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/error.hpp"
#include "formats/npy/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const headrace::Tensor tensor = headrace::parse_npy(std::as_bytes(std::span(data, size)));
    // Whatever is accepted fits into the input, and every element can be read.
    if (tensor.size_bytes() > size) __builtin_trap();
    if (headrace::to_doubles(tensor).size() != static_cast<std::size_t>(tensor.count())) __builtin_trap();
  } catch (const headrace::Error& error) {
    if (error.code() == headrace::ErrorCode::kInternal) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
