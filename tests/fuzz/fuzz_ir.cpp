// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the IR reader and writer. Input: XML, a zero byte, the bytes of the .bin.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.hpp"
#include "formats/ir/ir_reader.hpp"

namespace {

// Touches what a reader has promised: constants lie in memory, names and edges are whole.
void use(const headrace::Graph& graph) {
  headrace::verify(graph, "read");
  std::size_t sum = headrace::dump(graph).size();
  for (const headrace::NodeId id : graph.nodes()) {
    const headrace::Tensor& value = graph.at(id).value;
    for (std::size_t i = 0; i < value.size_bytes() && graph.at(id).type == "Const"; ++i) {
      sum += static_cast<std::size_t>(value.data()[i]);
    }
  }
  static_cast<void>(sum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\0'), size);
  headrace::WeightsBlob weights;
  const std::size_t start = std::min(end + 1, size);
  weights.bytes = {reinterpret_cast<const std::byte*>(data) + start, size - start};
  try {
    use(headrace::parse_ir(text.substr(0, end), weights));
  } catch (const headrace::Error& error) {
    // Refusing is right; a bug of ours is not.
    if (error.code() == headrace::ErrorCode::kInternal) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
