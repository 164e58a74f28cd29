// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the IR reader and writer. Input: XML, a zero byte, the bytes of the .bin.
#include "formats/ir/ir_reader.hpp"
#include "read_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headrace::read_ir_graph(data, size, [](std::string_view text, const headrace::WeightsBlob& weights) {
    return headrace::parse_ir(text, weights);
  });
  return 0;
}
