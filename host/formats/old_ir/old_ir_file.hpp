// SPDX-License-Identifier: Apache-2.0
// What an IR .xml of version 2 to 7 says, as plain structs: nothing is checked but the file's own grammar.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.hpp"
#include "graph/attributes.hpp"

namespace headrace::detail {

// A part of the .bin: <weights>, <biases> or another child of <blobs>.
struct OldIrBlob {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string precision;  // "FP32"; the layer's where the file does not say
};

struct OldIrPort {
  std::int64_t id = 0;
  std::string precision;  // the layer's where the file does not say
  Shape dims;
};

struct OldIrBody;

struct OldIrLayer {
  std::int64_t id = 0;
  std::string name;
  std::string type;
  std::string precision;
  RawAttributes data;  // of <data> and, in files of 2017, <convolution_data>, <pooling_data>, ...
  std::vector<OldIrPort> inputs;
  std::vector<OldIrPort> outputs;
  std::map<std::string, OldIrBlob, std::less<>> blobs;
  std::vector<OldIrBody> bodies;  // of TensorIterator: one
};

struct OldIrEdge {
  std::int64_t from_layer = 0;
  std::int64_t from_port = 0;
  std::int64_t to_layer = 0;
  std::int64_t to_port = 0;
};

// What is taken off an input, for each channel: one number, or a picture in the .bin.
struct OldIrMean {
  std::int64_t channel = 0;
  double value = 0;
  std::optional<OldIrBlob> picture;
};

struct OldIrFile {
  std::string name;
  std::int64_t version = 0;
  std::string precision = "FP32";  // of layers that say nothing
  std::vector<OldIrLayer> layers;
  std::vector<OldIrEdge> edges;
  std::string mean_layer;  // the input that the means are for; empty: the first
  std::vector<OldIrMean> means;
};

// The network inside a TensorIterator. Its inputs are input ports of its layers that no edge feeds; maps name ports of
// the layer and ports inside.
struct OldIrBody {
  OldIrFile graph;
  std::vector<RawAttributes> inputs;   // <input> of the port map
  std::vector<RawAttributes> outputs;  // <output>
  std::vector<OldIrEdge> back_edges;
};

inline constexpr std::int64_t kFirstOldIr = 2;
inline constexpr std::int64_t kLastOldIr = 7;

// Reads the XML text. Throws kBadModel or, for another version, kUnsupported.
OldIrFile parse_old_ir_file(std::string xml);

// "layer 'NAME' (TYPE)", for messages.
std::string layer_text(const OldIrLayer& layer);

}  // namespace headrace::detail
