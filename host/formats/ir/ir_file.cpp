// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_file.hpp"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "graph/body.hpp"

namespace headrace::detail {
namespace {

// How OpenVINO writes the axis of auto_broadcast="pdpd"; older files and the specification say "axis".
constexpr std::string_view kNestedAxis = "auto_broadcast.auto_broadcast_axis";

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

std::int64_t parse_number(std::string_view text, std::string_view what) {
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

const char* attribute(const pugi::xml_node& node, const char* name) {
  const pugi::xml_attribute found = node.attribute(name);
  if (!found) {
    fail(ErrorCode::kBadModel, "<" + std::string(node.name()) + "> lacks the attribute '" + name + "'");
  }
  return found.value();
}

std::int64_t number_attribute(const pugi::xml_node& node, const char* name) {
  return parse_number(attribute(node, name), "attribute '" + std::string(name) + "' of <" + node.name() + ">");
}

IrPort parse_port(const pugi::xml_node& node) {
  IrPort port;
  port.id = number_attribute(node, "id");
  port.precision = node.attribute("precision").value();
  port.names = split_names(node.attribute("names").value());
  for (const pugi::xml_node& dim : node.children("dim")) {
    port.dims.push_back(parse_number(dim.child_value(), "<dim>"));
  }
  for (const pugi::xml_node& mark : node.child("rt_info").children("attribute")) {
    if (std::string_view(mark.attribute("name").value()) == "layout") port.layout = mark.attribute("layout").value();
  }
  return port;
}

std::vector<IrPort> parse_ports(const pugi::xml_node& parent) {
  std::vector<IrPort> ports;
  for (const pugi::xml_node& node : parent.children("port")) ports.push_back(parse_port(node));
  return ports;
}

IrFile parse_network(const pugi::xml_node& net, int depth);

std::vector<IrMapping> parse_mappings(const pugi::xml_node& parent, const char* kind) {
  std::vector<IrMapping> mappings;
  for (const pugi::xml_node& node : parent.children(kind)) {
    IrMapping mapping;
    for (const pugi::xml_attribute& item : node.attributes()) mapping[item.name()] = item.value();
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

// If has then_body and else_body with a port map each, loops have one body.
std::vector<IrBody> parse_bodies(const pugi::xml_node& layer, int depth) {
  std::vector<IrBody> bodies;
  for (const std::string prefix : {"", "then_", "else_"}) {
    const pugi::xml_node body = layer.child((prefix + "body").c_str());
    if (!body) continue;
    if (depth >= kMaxBodyDepth) {
      fail(ErrorCode::kUnsupported, "has bodies nested deeper than " + std::to_string(kMaxBodyDepth));
    }
    const pugi::xml_node ports = layer.child((prefix + "port_map").c_str());
    bodies.push_back({parse_network(body, depth + 1), parse_mappings(ports, "input"), parse_mappings(ports, "output"),
                      parse_mappings(layer.child("back_edges"), "edge")});
  }
  return bodies;
}

IrLayer parse_layer(const pugi::xml_node& node, int depth) {
  IrLayer layer;
  layer.name = node.attribute("name").value();
  layer.type = node.attribute("type").value();
  try {
    layer.id = number_attribute(node, "id");
    attribute(node, "name");
    attribute(node, "type");
    layer.version = attribute(node, "version");
    layer.precision = node.attribute("precision").value();
    layer.output_names = split_names(node.attribute("output_names").value());
    for (const pugi::xml_attribute& item : node.child("data").attributes()) {
      layer.data[std::string_view(item.name()) == kNestedAxis ? "axis" : item.name()] = item.value();
    }
    layer.inputs = parse_ports(node.child("input"));
    layer.outputs = parse_ports(node.child("output"));
    layer.bodies = parse_bodies(node, depth);
  } catch (const Error& error) {
    rethrow_with_prefix(error, layer_text(layer));
  }
  return layer;
}

IrEdge parse_edge(const pugi::xml_node& node) {
  return {number_attribute(node, "from-layer"), number_attribute(node, "from-port"), number_attribute(node, "to-layer"),
          number_attribute(node, "to-port")};
}

IrFile parse_network(const pugi::xml_node& net, int depth) {
  IrFile file;
  file.name = net.attribute("name").value();
  for (const pugi::xml_node& node : net.child("layers").children("layer")) {
    file.layers.push_back(parse_layer(node, depth));
  }
  for (const pugi::xml_node& node : net.child("edges").children("edge")) file.edges.push_back(parse_edge(node));
  return file;
}

void check_version(const pugi::xml_node& net) {
  const std::int64_t version = number_attribute(net, "version");
  if (version == 10 || version == 11) return;
  const std::string shown = "IR v" + std::to_string(version);
  if (version >= 1 && version < 10) {
    fail(ErrorCode::kUnsupported, shown +
                                      " is not supported, only v10 and v11: convert the original model again with "
                                      "OpenVINO 2020.4 or newer");
  }
  fail(ErrorCode::kUnsupported, shown + " is not supported, only v10 and v11");
}

void check_root(const pugi::xml_document& document) {
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "net") {
    fail(ErrorCode::kBadModel,
         "not an OpenVINO IR: the root element is <" + std::string(root.name()).substr(0, 40) + ">, expected <net>");
  }
}

}  // namespace

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      name += text[++i];
    } else if (text[i] == ',') {
      if (!name.empty()) names.push_back(name);
      name.clear();
    } else {
      name += text[i];
    }
  }
  if (!name.empty()) names.push_back(name);
  return names;
}

std::string layer_text(const IrLayer& layer) {
  return "layer " + quote(layer.name) + " (" + layer.type.substr(0, 60) + ")";
}

IrFile parse_ir_file(std::string xml) {
  if (xml.size() > kMaxXmlBytes) {
    fail(ErrorCode::kBadModel,
         "XML of " + std::to_string(xml.size()) + " bytes, the limit is " + std::to_string(kMaxXmlBytes));
  }
  if (std::count(xml.begin(), xml.end(), '<') > static_cast<std::ptrdiff_t>(kMaxXmlTags)) {
    fail(ErrorCode::kBadModel, "XML has more than " + std::to_string(kMaxXmlTags) + " tags");
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  if (!parsed) {
    fail(ErrorCode::kBadModel,
         "XML is damaged at line " + std::to_string(line_of(xml, parsed.offset)) + ": " + parsed.description());
  }
  std::string().swap(xml);  // the document has its own copy
  check_depth(document);
  check_root(document);
  const pugi::xml_node net = document.document_element();
  check_version(net);
  IrFile file = parse_network(net, 0);
  if (file.layers.empty()) fail(ErrorCode::kBadModel, "the network has no layers");
  return file;
}

}  // namespace headrace::detail
