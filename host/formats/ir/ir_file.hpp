// SPDX-License-Identifier: Apache-2.0
// What an IR .xml says, as plain structs: no operator is known yet, and nothing is checked but the file's own grammar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.hpp"

namespace headrace::detail {

struct IrPort {
  std::int64_t id = 0;
  std::string precision;           // "FP32", or empty
  std::vector<std::string> names;  // tensor names, in the file's order
  std::vector<std::int64_t> dims;  // -1: dynamic
  std::string layout;              // "[N,C,H,W]", or empty
};

// <input> or <output> of a port map, or <edge> of the back edges, with their attributes as text.
using IrMapping = RawAttributes;

struct IrBody;

struct IrLayer {
  std::int64_t id = 0;
  std::string name;
  std::string type;     // as the file spells it
  std::string version;  // "opset8"
  std::string precision;
  RawAttributes data;
  std::vector<IrPort> inputs;
  std::vector<IrPort> outputs;
  std::vector<std::string> output_names;  // of a Result, IR of 2026
  std::vector<IrBody> bodies;             // of If (then, else), Loop and TensorIterator
};

struct IrEdge {
  std::int64_t from_layer = 0;
  std::int64_t from_port = 0;
  std::int64_t to_layer = 0;
  std::int64_t to_port = 0;
};

struct IrFile {
  std::string name;
  std::vector<IrLayer> layers;
  std::vector<IrEdge> edges;
};

// A graph inside a layer and how its ports are joined to the layer's.
struct IrBody {
  IrFile graph;
  std::vector<IrMapping> inputs;
  std::vector<IrMapping> outputs;
  std::vector<IrMapping> back_edges;
};

// Reads the XML text.
// Throws kBadModel or, for another IR version, kUnsupported.
IrFile parse_ir_file(std::string xml);

// Splits "a\,b,data" at the commas that no backslash escapes.
std::vector<std::string> split_names(std::string_view text);

// "layer 'NAME' (TYPE)", for messages.
std::string layer_text(const IrLayer& layer);

}  // namespace headrace::detail
