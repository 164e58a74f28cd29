// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the TensorFlow reader. Input: a GraphDef.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "formats/tensorflow/tensorflow_reader.hpp"
#include "read_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::shared_ptr<std::byte[]> copy(new std::byte[size + headrace::kMemoryAlignment]);
  if (size != 0) std::memcpy(copy.get(), data, size);
  headrace::read_graph([&] { return headrace::parse_tensorflow({copy.get(), size}, copy); });
  return 0;
}
