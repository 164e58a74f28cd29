// SPDX-License-Identifier: Apache-2.0
// SHA-256 as 32 raw bytes and as lower-case hexadecimal text.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

std::string sha256_bytes(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

}  // namespace headrace
