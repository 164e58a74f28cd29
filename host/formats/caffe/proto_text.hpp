// SPDX-License-Identifier: Apache-2.0
// Protobuf's text format as a tree, for any message: what the fields mean is the reader's business.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

// Bounds for hostile files. The largest .prototxt of a public network (2000 layers) has 0.4 MB, 30 000 fields and
// 4 levels.
inline constexpr std::size_t kMaxProtoTextBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxProtoTextFields = 1'000'000;
inline constexpr std::size_t kMaxProtoTextDepth = 32;

// A field with its value: a scalar as the text spells it, or a message with its fields in the file's order. A list
// ("dim: [1, 3]") becomes one field per element.
struct ProtoText {
  std::string_view name;  // points into the text
  std::size_t line = 0;
  bool is_message = false;
  bool is_string = false;  // it stood in quotes; `value` is without them and without escapes
  std::string value;
  std::vector<ProtoText> fields;
};

// Parses a message whose fields stand without braces around them, as in a file. `text` must outlive the result.
// Throws kBadModel with the line.
// Source: the text format's published specification (protobuf.dev, "Text Format Language"); extensions and Any are
// refused.
ProtoText parse_proto_text(std::string_view text);

}  // namespace headrace::detail
