// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_file.hpp"

#include <pugixml.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/ir/ir_xml.hpp"
#include "graph/body.hpp"

namespace headrace::detail {
namespace {

// How OpenVINO writes the axis of auto_broadcast="pdpd"; older files and the specification say "axis".
constexpr std::string_view kNestedAxis = "auto_broadcast.auto_broadcast_axis";

IrPort parse_port(const pugi::xml_node& node) {
  IrPort port;
  port.id = xml_number_attribute(node, "id");
  port.precision = node.attribute("precision").value();
  port.names = split_names(node.attribute("names").value());
  for (const pugi::xml_node& dim : node.children("dim")) {
    port.dims.push_back(parse_xml_number(dim.child_value(), "<dim>"));
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
    layer.id = xml_number_attribute(node, "id");
    xml_attribute(node, "name");
    xml_attribute(node, "type");
    layer.version = xml_attribute(node, "version");
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
  return {xml_number_attribute(node, "from-layer"), xml_number_attribute(node, "from-port"),
          xml_number_attribute(node, "to-layer"), xml_number_attribute(node, "to-port")};
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
  const std::int64_t version = xml_number_attribute(net, "version");
  if (version == 10 || version == 11) return;
  const std::string shown = "IR v" + std::to_string(version);
  if (version >= 1 && version < 10) {
    fail(ErrorCode::kUnsupported, shown +
                                      " is not supported, only v10 and v11: convert the original model again with "
                                      "OpenVINO 2020.4 or newer");
  }
  fail(ErrorCode::kUnsupported, shown + " is not supported, only v10 and v11");
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
  pugi::xml_document document;
  load_ir_xml(std::move(xml), document);
  const pugi::xml_node net = document.document_element();
  check_version(net);
  IrFile file = parse_network(net, 0);
  if (file.layers.empty()) fail(ErrorCode::kBadModel, "the network has no layers");
  return file;
}

}  // namespace headrace::detail
