// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_file.hpp"

#include <algorithm>
#include <pugixml.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/refusals.hpp"
#include "formats/ir/ir_xml.hpp"
#include "graph/body.hpp"

namespace headrace::detail {
namespace {

std::string precision_of(const pugi::xml_node& node, const std::string& fallback) {
  const std::string own = node.attribute("precision").value();
  return own.empty() ? fallback : own;
}

std::vector<OldIrPort> parse_ports(const pugi::xml_node& parent, const std::string& precision) {
  std::vector<OldIrPort> ports;
  for (const pugi::xml_node& node : parent.children("port")) {
    OldIrPort port;
    port.id = xml_number_attribute(node, "id");
    port.precision = precision_of(node, precision);
    for (const pugi::xml_node& dim : node.children("dim")) {
      port.dims.push_back(parse_xml_number(dim.child_value(), "<dim>"));
    }
    if (port.dims.size() > kMaxFileRank || !is_countable(port.dims)) {
      fail(ErrorCode::kBadModel,
           "port " + std::to_string(port.id) + " has the impossible shape " +
               to_string(Shape(port.dims.begin(), port.dims.begin() + static_cast<std::ptrdiff_t>(
                                                                          std::min(port.dims.size(), kMaxFileRank)))));
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

OldIrBlob parse_blob(const pugi::xml_node& node, const std::string& precision) {
  OldIrBlob blob;
  blob.offset = xml_number_attribute(node, "offset");
  blob.size = xml_number_attribute(node, "size");
  blob.precision = precision_of(node, precision);
  return blob;
}

bool is_attributes(std::string_view name) {
  constexpr std::string_view kOther[] = {"input", "output",   "blobs",      "weights", "biases",
                                         "body",  "port_map", "back_edges", "rt_info", "params"};
  return std::find(std::begin(kOther), std::end(kOther), name) == std::end(kOther);
}

void parse_network(const pugi::xml_node& net, int depth, OldIrFile& file);

std::vector<RawAttributes> parse_mappings(const pugi::xml_node& parent, const char* kind) {
  std::vector<RawAttributes> mappings;
  for (const pugi::xml_node& node : parent.children(kind)) {
    RawAttributes& mapping = mappings.emplace_back();
    for (const pugi::xml_attribute& item : node.attributes()) mapping[item.name()] = item.value();
  }
  return mappings;
}

std::vector<OldIrEdge> parse_edges(const pugi::xml_node& parent) {
  std::vector<OldIrEdge> edges;
  for (const pugi::xml_node& node : parent.children("edge")) {
    edges.push_back({xml_number_attribute(node, "from-layer"), xml_number_attribute(node, "from-port"),
                     xml_number_attribute(node, "to-layer"), xml_number_attribute(node, "to-port")});
  }
  return edges;
}

std::vector<OldIrBody> parse_bodies(const pugi::xml_node& layer, const std::string& precision, int depth) {
  const pugi::xml_node node = layer.child("body");
  if (!node) return {};
  if (depth >= kMaxBodyDepth) {
    fail(ErrorCode::kUnsupported, "has bodies nested deeper than " + std::to_string(kMaxBodyDepth));
  }
  OldIrBody body;
  body.graph.precision = precision_of(node, precision);
  parse_network(node, depth + 1, body.graph);
  const pugi::xml_node ports = layer.child("port_map");
  body.inputs = parse_mappings(ports, "input");
  body.outputs = parse_mappings(ports, "output");
  body.back_edges = parse_edges(layer.child("back_edges"));
  return {body};
}

OldIrLayer parse_layer(const pugi::xml_node& node, const std::string& net_precision, int depth) {
  OldIrLayer layer;
  layer.name = node.attribute("name").value();
  layer.type = node.attribute("type").value();
  try {
    layer.id = xml_number_attribute(node, "id");
    xml_attribute(node, "name");
    xml_attribute(node, "type");
    layer.precision = precision_of(node, net_precision);
    layer.inputs = parse_ports(node.child("input"), layer.precision);
    layer.outputs = parse_ports(node.child("output"), layer.precision);
    layer.bodies = parse_bodies(node, layer.precision, depth);
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string_view name = child.name();
      if (name == "weights" || name == "biases") layer.blobs[child.name()] = parse_blob(child, layer.precision);
      if (!is_attributes(name)) continue;
      for (const pugi::xml_attribute& item : child.attributes()) layer.data[item.name()] = item.value();
    }
    for (const pugi::xml_node& blob : node.child("blobs").children()) {
      if (blob.type() == pugi::node_element) layer.blobs[blob.name()] = parse_blob(blob, layer.precision);
    }
  } catch (const Error& error) {
    rethrow_with_prefix(error, layer_text(layer));
  }
  return layer;
}

void parse_network(const pugi::xml_node& net, int depth, OldIrFile& file) {
  for (const pugi::xml_node& node : net.child("layers").children("layer")) {
    file.layers.push_back(parse_layer(node, file.precision, depth));
  }
  file.edges = parse_edges(net.child("edges"));
}

// A scale is refused: how readers of that time applied it is not certain.
void parse_pre_process(const pugi::xml_node& node, OldIrFile& file) {
  if (!node) return;
  file.mean_layer = node.attribute("reference-layer-name").value();
  for (const pugi::xml_node& child : node.children("channel")) {
    OldIrMean mean;
    mean.channel = xml_number_attribute(child, "id");
    if (const pugi::xml_node scale = child.child("scale"); scale && scale.attribute("value").as_double(1) != 1) {
      fail(ErrorCode::kUnsupported, "<pre-process> with a scale is not supported: give it to convert as --scale");
    }
    const pugi::xml_node value = child.child("mean");
    if (!value) continue;
    if (value.attribute("value")) {
      const RawAttributes attributes = {{"value", value.attribute("value").value()}};
      mean.value = parse_double(attributes, "value");
    } else {
      mean.picture = parse_blob(value, precision_of(node, "FP32"));
      const std::string own = node.attribute("mean-precision").value();
      if (!own.empty()) mean.picture->precision = own;
    }
    file.means.push_back(mean);
  }
}

}  // namespace

std::string layer_text(const OldIrLayer& layer) {
  return "layer " + quote(layer.name) + " (" + readable(layer.type) + ")";
}

OldIrFile parse_old_ir_file(std::string xml) {
  pugi::xml_document document;
  load_ir_xml(std::move(xml), document);
  const pugi::xml_node net = document.document_element();
  OldIrFile file;
  file.version = xml_number_attribute(net, "version");
  if (file.version < kFirstOldIr || file.version > kLastOldIr) {
    fail(ErrorCode::kUnsupported, "IR v" + std::to_string(file.version) + " is not an old IR, which are v" +
                                      std::to_string(kFirstOldIr) + " to v" + std::to_string(kLastOldIr));
  }
  file.name = net.attribute("name").value();
  file.precision = precision_of(net, "FP32");
  parse_network(net, 0, file);
  parse_pre_process(net.child("pre-process"), file);
  if (file.layers.empty()) fail(ErrorCode::kBadModel, "the network has no layers");
  return file;
}

}  // namespace headrace::detail
