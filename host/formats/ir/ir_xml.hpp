// SPDX-License-Identifier: Apache-2.0
// XML of IR files of every version, within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace headrace::detail {

// Bounds for hostile files. The largest IR seen (a network of 30 000 layers) has 40 MB and 900 000 tags.
inline constexpr std::size_t kMaxXmlBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxXmlTags = 16'000'000;  // pugixml needs about 100 bytes for each
inline constexpr std::size_t kMaxXmlDepth = 256;        // bodies of If and Loop add 4 levels each

// Parses the text. Throws kBadModel where it is damaged, beyond the bounds, or its root is not <net>.
void load_ir_xml(std::string xml, pugi::xml_document& document);

// Text as an integer; `what` names it in the error.
std::int64_t parse_xml_number(std::string_view text, std::string_view what);
// Attributes that must be there.
const char* xml_attribute(const pugi::xml_node& node, const char* name);
std::int64_t xml_number_attribute(const pugi::xml_node& node, const char* name);

}  // namespace headrace::detail
