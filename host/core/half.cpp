// SPDX-License-Identifier: Apache-2.0
#include "core/half.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/element_type.hpp"
#include "core/parallel.hpp"

namespace headrace {
namespace {

// All bits set, or none.
std::uint32_t mask(bool is_set) { return 0U - static_cast<std::uint32_t>(is_set); }

// No branches, nor what compilers make branches of: they make vectors of a loop over it.
float widened(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);  // the exponents' biases differ by 112
  // A denormal, or zero. Vector instructions convert signed integers.
  const float steps = static_cast<float>(static_cast<std::int32_t>(magnitude));
  const auto small = std::bit_cast<std::uint32_t>(steps * 0x1p-24F);
  const std::uint32_t is_small = mask(magnitude < 0x400U);
  const std::uint32_t special = mask(magnitude >= 0x7c00U) & 0x7f800000U;  // infinity or NaN
  return std::bit_cast<float>(sign | (small & is_small) | (normal & ~is_small) | special);
}

}  // namespace

float half_to_float(std::uint16_t bits) { return widened(bits); }

void halves_to_floats(const std::byte* from, float* to, std::int64_t count) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 18;
  parallel_for(static_cast<std::size_t>((count + kPiece - 1) / kPiece), [&](std::size_t piece) {
    const std::int64_t begin = static_cast<std::int64_t>(piece) * kPiece;
    const std::int64_t end = std::min(begin + kPiece, count);
    for (std::int64_t i = begin; i < end; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, from + 2 * i, sizeof(bits));
      to[i] = widened(bits);
    }
  });
}

}  // namespace headrace
