// SPDX-License-Identifier: Apache-2.0
// Reads TensorFlow's frozen graphs into a Graph of IR operators.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "graph/graph.hpp"

namespace headrace {

// Reads a GraphDef (.pb) whose variables are constants. Inputs are the Placeholders that an output needs, in the file's
// order, with the file's layout (NHWC stays NHWC); outputs are the nodes that no other node reads. Tensor names are
// TensorFlow's ("node:0"; an input is "node" too), node names and `source_type` the file's; what a node is made of is
// called "NAME/IrType". Conditions that are known take one branch, functions are put in place of their calls.
// Throws kIo (the file cannot be read), kBadModel (damaged, with the node's name) or kUnsupported (all unsupported
// operators and element types at once), each with the path.
Graph read_tensorflow(const std::string& path);

// Reads a graph from memory, kept alive by owner; at least kMemoryAlignment readable bytes follow the last one. As
// read_tensorflow, but messages carry no path.
Graph parse_tensorflow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

}  // namespace headrace
