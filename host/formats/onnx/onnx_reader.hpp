// SPDX-License-Identifier: Apache-2.0
// Reads ONNX models into a Graph of IR operators.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Reads an .onnx file, external data beside it included. Node names, tensor names and `source_type` are the file's;
// what a node is made of is called "NAME/IrType". Constants share the mapped file where their alignment allows it.
// Parameters keep their declared shapes; the graph holds only what an output needs.
// Throws kIo (a file cannot be read), kBadModel (damaged, with the node's name) or kUnsupported (all unsupported
// operators and element types at once), each with the path.
Graph read_onnx(const std::string& path);

// Reads a model from memory, kept alive by owner; at least kMemoryAlignment readable bytes follow the last one. As
// read_onnx, but external data is refused and messages carry no path.
Graph parse_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

}  // namespace headrace
