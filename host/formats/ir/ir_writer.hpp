// SPDX-License-Identifier: Apache-2.0
// Writes a Graph as OpenVINO IR, version 11.
#pragma once

#include <string>

#include "graph/graph.hpp"

namespace headrace {

struct IrWriteOptions {
  // Stores f32 constants as f16 with a Convert behind each, as OpenVINO does. Values beyond f16's range become its
  // largest, with a warning that counts them. Networks with FakeQuantize stay f32: its ranges must be exact.
  bool compress_to_fp16 = false;
};

// Writes PATH.xml and PATH.bin, each by temporary name and rename, the .bin first. Constants with the same bytes share
// them; every blob starts at a multiple of 128 bytes. The graph must be as a reader or converter made it: without fused
// epilogues. Ports get the shapes that are resolved; OpenVINO infers them anew.
// Throws kInvalidArgument where the path does not end in .xml, kInternal on a fused graph, kIo.
void write_ir(const Graph& graph, const std::string& xml_path, const IrWriteOptions& options = {});

}  // namespace headrace
