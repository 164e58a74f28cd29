// SPDX-License-Identifier: Apache-2.0
// A NetParameter of a .prototxt as plain structs: versions 1 and 2 in the words of version 2, the layers of phase TEST.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.hpp"
#include "formats/caffe/caffe_params.hpp"
#include "formats/caffe/proto_text.hpp"

namespace headrace::detail {

struct CaffeInput {
  std::string name;
  std::optional<Shape> shape;  // absent where the file gives none
};

struct CaffeLayer {
  std::string name;
  std::string type;  // version 2's name, or as the file spells a type that version 1 did not have
  std::vector<std::string> bottoms;
  std::vector<std::string> tops;
  const ProtoText* text = nullptr;  // its message
};

// Points into the ProtoText that it was made of.
struct CaffeNet {
  std::string name;
  std::vector<CaffeInput> inputs;  // "input:" with "input_dim:" or "input_shape"
  std::vector<CaffeLayer> layers;  // those that phase TEST has, in the file's order
};

// Throws kBadModel (a field of the wrong kind, both "layer" and "layers", a shape of no size) or kUnsupported (V0).
CaffeNet parse_caffe_net(const ProtoText& text);

// The dimensions of a BlobShape or of "dim" fields. Throws kBadModel where they are negative or too large.
Shape checked_caffe_shape(const std::vector<std::int64_t>& dims, std::string_view what);

}  // namespace headrace::detail
