// SPDX-License-Identifier: Apache-2.0
// Host memory that OpenCL CPU runtimes use in place.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "core/error.hpp"

namespace headrace {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

using AlignedMemory = std::unique_ptr<void, FreeMemory>;

// Intel's CPU runtime wants a page, PoCL 128 bytes.
inline constexpr std::size_t kHostBufferAlignment = 4096;

// Zero-filled memory. Throws kOutOfMemory naming `what`.
inline AlignedMemory make_aligned_memory(std::size_t size_bytes, const std::string& what) {
  const std::size_t rounded = (size_bytes + kHostBufferAlignment - 1) / kHostBufferAlignment * kHostBufferAlignment;
  void* memory = nullptr;
  if (rounded < size_bytes || ::posix_memalign(&memory, kHostBufferAlignment, rounded) != 0) {
    fail(ErrorCode::kOutOfMemory,
         what + " needs " + std::to_string(size_bytes) + " bytes, the host has too little memory");
  }
  std::memset(memory, 0, rounded);
  return AlignedMemory(memory);
}

// Whether the device may work in this memory: aligned, and the bytes behind it (which kernels may read, never write)
// are in the same page as its last byte, thus certainly mapped.
inline bool is_usable_in_place(const void* memory, std::size_t size_bytes, std::size_t alignment, std::size_t slack) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (begin % alignment != 0 || size_bytes == 0) return false;
  constexpr std::uintptr_t kPage = 4096;
  const std::uintptr_t last = begin + size_bytes - 1;
  return last / kPage == (last + slack) / kPage;
}

}  // namespace headrace
