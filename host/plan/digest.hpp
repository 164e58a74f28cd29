// SPDX-License-Identifier: Apache-2.0
// 128-bit digests of weights (XXH3): as fast as memory is read. They tell contents apart, not friend from foe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/tensor.hpp"

namespace headrace {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest_of(std::span<const std::byte> bytes);

// The same for a tensor's elements; what lies in a mapped file is given back piece by piece, so that the memory in use
// does not grow.
Digest digest_of(const Tensor& tensor);

// 32 lower-case hexadecimal digits.
std::string to_hex(const Digest& digest);

}  // namespace headrace
