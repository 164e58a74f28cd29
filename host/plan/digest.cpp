// SPDX-License-Identifier: Apache-2.0
#include "plan/digest.hpp"

#include <algorithm>
#include <memory>

#include "core/file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace headrace {

Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Digest digest_of(const Tensor& tensor) {
  constexpr std::size_t kPieceBytes = std::size_t{8} << 20;
  const std::span<const std::byte> bytes(tensor.data(), tensor.size_bytes());
  if (!tensor.is_read_only()) return digest_of(bytes);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  check(state != nullptr, ErrorCode::kOutOfMemory, "no memory to digest weights");
  XXH3_128bits_reset(state.get());
  for (std::size_t done = 0; done < bytes.size(); done += kPieceBytes) {
    const auto piece = bytes.subspan(done, std::min(kPieceBytes, bytes.size() - done));
    XXH3_128bits_update(state.get(), piece.data(), piece.size());
    drop_file_pages(piece);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.high, digest.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

}  // namespace headrace
