// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the reader of old IR. Input: XML, a zero byte, the bytes of the .bin.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/old_ir/old_ir_reader.hpp"
#include "read_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\0'), size);
  headrace::WeightsBlob weights;
  const std::size_t start = std::min(end + 1, size);
  weights.bytes = {reinterpret_cast<const std::byte*>(data) + start, size - start};
  headrace::read_graph([&] { return headrace::parse_old_ir(text.substr(0, end), weights); });
  return 0;
}
