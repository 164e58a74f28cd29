// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/sha256.hpp"

#include <openssl/evp.h>

#include "core/error.hpp"

namespace headrace {

std::string sha256_bytes(std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  check(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha256(),
                   nullptr) == 1,
        ErrorCode::kInternal, "SHA-256 is not available in OpenSSL");
  digest.resize(size);
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : sha256_bytes(bytes)) {
    const auto value = static_cast<unsigned char>(c);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

}  // namespace headrace
