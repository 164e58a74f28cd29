// SPDX-License-Identifier: Apache-2.0
// What a fuzzer of a model reader does with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.hpp"
#include "formats/ir/ir_reader.hpp"
#include "graph/graph.hpp"

namespace headrace {

// Touches what a reader has promised: constants lie in memory, names and edges are whole.
inline void use(const Graph& graph) {
  verify(graph, "read");
  std::size_t sum = dump(graph).size();
  for (const NodeId id : graph.nodes()) {
    const Tensor& value = graph.at(id).value;
    for (std::size_t i = 0; i < value.size_bytes() && graph.at(id).type == "Const"; ++i) {
      sum += static_cast<std::size_t>(value.data()[i]);
    }
  }
  static_cast<void>(sum);
}

// Uses the graph that `read` returns. Refusing the input, in one line, is right; a bug of ours ends the process.
template <typename Read>
void read_graph(Read read) {
  try {
    use(read());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
  }
}

// The same for readers of IR. Input: XML, a zero byte, the bytes of the .bin.
template <typename Parse>
void read_ir_graph(const std::uint8_t* data, std::size_t size, Parse parse) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\0'), size);
  const std::size_t start = std::min(end + 1, size);
  WeightsBlob weights;
  weights.bytes = {reinterpret_cast<const std::byte*>(data) + start, size - start};
  read_graph([&] { return parse(text.substr(0, end), weights); });
}

}  // namespace headrace
