// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the Caffe reader. Input: the .prototxt, a zero byte, the .caffemodel.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "formats/caffe/caffe_reader.hpp"
#include "read_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view whole(reinterpret_cast<const char*>(data), size);
  const std::size_t end = whole.find('\0');
  const std::string_view weights = end == std::string_view::npos ? "" : whole.substr(end + 1);
  const std::shared_ptr<std::byte[]> copy(new std::byte[weights.size() + headrace::kMemoryAlignment]);
  std::memcpy(copy.get(), weights.data(), weights.size());
  headrace::read_graph([&] { return headrace::parse_caffe(whole.substr(0, end), {copy.get(), weights.size()}, copy); });
  return 0;
}
