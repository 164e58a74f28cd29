// SPDX-License-Identifier: Apache-2.0
// Reads Caffe models into a Graph of IR operators.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace headrace {

// Reads a .prototxt and its weights: `weights_path`, or the file with the same stem and the ending .caffemodel. The
// network is that of phase TEST. Layer names, tensor names (tops) and `source_type` are the file's; what a layer is
// made of is called "NAME/IrType". Outputs are the tops that no layer reads, in the file's order. Weights share the
// mapped file where their alignment allows it. A data layer becomes an input, of open shape where the file does not
// say it.
// Throws kIo (a file cannot be read), kBadModel (damaged, with the layer's name) or kUnsupported (all unsupported
// layers at once), each with the path.
Graph read_caffe(const std::string& prototxt_path, const std::string& weights_path = "");

// Reads a model from memory; the weights are kept alive by owner, at least kMemoryAlignment readable bytes follow them.
// As read_caffe, but messages carry no path of the .prototxt.
Graph parse_caffe(std::string_view prototxt, std::span<const std::byte> weights, std::shared_ptr<const void> owner);

}  // namespace headrace
