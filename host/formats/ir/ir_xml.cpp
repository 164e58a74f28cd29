// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_xml.hpp"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

// The line of a byte, for messages.
std::size_t line_of(std::string_view text, std::ptrdiff_t offset) {
  const auto end = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + std::min(end, text.size()), '\n'));
}

// Walks without recursion, so that depth costs no stack; pugixml's own parser does not recurse either.
void check_depth(const pugi::xml_document& document) {
  std::size_t depth = 0;
  pugi::xml_node node = document.first_child();
  while (node) {
    if (node.first_child()) {
      if (++depth > kMaxXmlDepth) {
        fail(ErrorCode::kBadModel, "XML is nested deeper than " + std::to_string(kMaxXmlDepth) + " levels");
      }
      node = node.first_child();
      continue;
    }
    while (node && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    node = node.next_sibling();
  }
}

void check_root(const pugi::xml_document& document) {
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "net") {
    fail(ErrorCode::kBadModel,
         "not an OpenVINO IR: the root element is <" + std::string(root.name()).substr(0, 40) + ">, expected <net>");
  }
}

}  // namespace

std::int64_t parse_xml_number(std::string_view text, std::string_view what) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto last = text.find_last_not_of(" \t\r\n");
  const std::string_view body = first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (body.empty() || error != std::errc() || end != body.data() + body.size()) {
    fail(ErrorCode::kBadModel, std::string(what) + " is " + quote(text) + ", expected an integer");
  }
  return value;
}

const char* xml_attribute(const pugi::xml_node& node, const char* name) {
  const pugi::xml_attribute found = node.attribute(name);
  if (!found) {
    fail(ErrorCode::kBadModel, "<" + std::string(node.name()) + "> lacks the attribute '" + name + "'");
  }
  return found.value();
}

std::int64_t xml_number_attribute(const pugi::xml_node& node, const char* name) {
  return parse_xml_number(xml_attribute(node, name), "attribute '" + std::string(name) + "' of <" + node.name() + ">");
}

void load_ir_xml(std::string xml, pugi::xml_document& document) {
  if (xml.size() > kMaxXmlBytes) {
    fail(ErrorCode::kBadModel,
         "XML of " + std::to_string(xml.size()) + " bytes, the limit is " + std::to_string(kMaxXmlBytes));
  }
  if (std::count(xml.begin(), xml.end(), '<') > static_cast<std::ptrdiff_t>(kMaxXmlTags)) {
    fail(ErrorCode::kBadModel, "XML has more than " + std::to_string(kMaxXmlTags) + " tags");
  }
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) {
    fail(ErrorCode::kBadModel,
         "XML is damaged at line " + std::to_string(line_of(xml, parsed.offset)) + ": " + parsed.description());
  }
  std::string().swap(xml);  // the document has its own copy
  check_depth(document);
  check_root(document);
}

}  // namespace headrace::detail
