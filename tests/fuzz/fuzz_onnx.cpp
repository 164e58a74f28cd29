// SPDX-License-Identifier: Apache-2.0
// libFuzzer target for the ONNX reader. Input: a ModelProto.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/error.hpp"
#include "formats/onnx/onnx_reader.hpp"

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
  const std::shared_ptr<std::byte[]> copy(new std::byte[size + headrace::kMemoryAlignment]);
  if (size != 0) std::memcpy(copy.get(), data, size);
  try {
    use(headrace::parse_onnx({copy.get(), size}, copy));
  } catch (const headrace::Error& error) {
    // Refusing is right; a bug of ours is not.
    if (error.code() == headrace::ErrorCode::kInternal) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
  return 0;
}
