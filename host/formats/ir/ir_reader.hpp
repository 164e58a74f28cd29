// SPDX-License-Identifier: Apache-2.0
// Reads OpenVINO IR, versions 10 and 11, into a Graph.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace headrace {

// The bytes of a .bin file, shared by the constants that point into them.
struct WeightsBlob {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
  std::string name = "the weights";  // for messages: the file's path
  std::string problem;               // why there are no bytes; reported by the first constant that needs some
};

// Maps the weights of an .xml file: `weights_path`, or the file with the same stem and the ending .bin, whose absence
// is a `problem`. Throws kIo where the named file cannot be read, kBadModel where it is XML.
WeightsBlob map_ir_weights(const std::string& xml_path, const std::string& weights_path);

// Reads an .xml file and its weights: `weights_path`, or the file with the same stem and the ending .bin. Weights are
// mapped, not copied; constants that lie unaligned for their type are copied.
// Shapes are not inferred: a Parameter keeps its declared shape, and only Parameters with a static shape and Consts
// have resolved outputs. Layers from which no Result can be reached are dropped, Parameters excepted; Parameters,
// Results and nodes stand in the file's order.
// Throws kIo (a file cannot be read), kBadModel (damaged, with the layer's name) or kUnsupported (an old version, or
// all unsupported operators and element types at once), each with the path.
Graph read_ir(const std::string& xml_path, const std::string& weights_path = "");

// Reads an IR from memory; as read_ir, but messages carry no path of the XML.
Graph parse_ir(std::string_view xml, const WeightsBlob& weights);

}  // namespace headrace
