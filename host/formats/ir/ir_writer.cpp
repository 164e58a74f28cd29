// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_writer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <pugixml.hpp>
#include <sstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/log.hpp"
#include "formats/ir/ir_weights.hpp"

namespace headrace {
namespace {

using detail::IrWeights;

// The text of a `names` attribute: commas inside a name are escaped.
std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    for (const char c : name) text += c == ',' ? std::string("\\,") : std::string(1, c);
  }
  return text;
}

std::string without_brackets(const std::string& text) { return text.substr(1, text.size() - 2); }

void append(pugi::xml_node& node, const char* name, const std::string& value) {
  node.append_attribute(name) = value.c_str();
}

void append_dims(pugi::xml_node& port, const OutputInfo& info) {
  if (!info.is_resolved) return;
  for (const std::int64_t dim : info.shape) port.append_child("dim").text().set(static_cast<long long>(dim));
}

// What the graphs of one file share.
struct FileState {
  bool compresses = false;
  IrWeights weights;
  std::size_t clamped_count = 0;
};

bool has_fake_quantize(const Graph& graph) {
  const std::vector<NodeId> ids = graph.nodes();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return graph.at(id).type == "FakeQuantize"; });
}

// Writes one graph: the network, or a body inside a layer.
class Writer {
 public:
  Writer(const Graph& graph, FileState& file, pugi::xml_node parent)
      : graph_(graph),
        order_(graph.topological_order()),
        file_(file),
        layers_(parent.append_child("layers")),
        edges_(parent.append_child("edges")) {
    put_in_file_order();
    for (const NodeId id : order_) write_node(graph_.at(id));
  }

  // The id of a Parameter's or Result's layer.
  std::size_t layer_of(NodeId id) const { return ids_.at(id); }

 private:
  // Readers take the order of Parameters and Results from the file, so they stand in the graph's own order: the
  // topological order alone could turn them round.
  void put_in_file_order() {
    const auto is_port = [&](NodeId id) { return graph_.at(id).type == "Parameter" || graph_.at(id).type == "Result"; };
    std::erase_if(order_, is_port);
    order_.insert(order_.begin(), graph_.parameters().begin(), graph_.parameters().end());
    order_.insert(order_.end(), graph_.results().begin(), graph_.results().end());
  }

  void write_node(const Node& node) {
    HEADRACE_ASSERT(node.epilogue.is_empty(), "only graphs without fused epilogues are written");
    if (node.type == "Const" && file_.compresses && node.value.type() == ElementType::f32 && node.value.count() > 0) {
      write_compressed(node);
      return;
    }
    const std::size_t id = next_id_++;
    ids_[node.id] = id;
    pugi::xml_node layer = add_layer(id, node.name, node.type, node.opset);
    pugi::xml_node data = layer.append_child("data");
    if (node.type == "Const") {
      write_constant(data, node.value);
    } else if (node.type == "Parameter") {
      append(data, "shape", without_brackets(to_string(node.declared_shape)));
      append(data, "element_type", std::string(to_string(node.outputs.at(0).type)));
    } else if (node.type == "Result") {
      if (node.attributes.has("output_name")) append(layer, "output_names", join_names({output_name(graph_, node.id)}));
    } else {
      for (const auto& [name, value] : node.attributes.values()) append(data, name.c_str(), to_string(value));
    }
    if (data.attributes_begin() == data.attributes_end()) layer.remove_child(data);
    write_inputs(layer, id, node);
    write_outputs(layer, id, node);
    write_bodies(layer, node);
  }

  pugi::xml_node add_layer(std::size_t id, const std::string& name, const std::string& type, std::int32_t opset) {
    pugi::xml_node layer = layers_.append_child("layer");
    append(layer, "id", std::to_string(id));
    append(layer, "name", name);
    append(layer, "type", type);
    append(layer, "version", "opset" + std::to_string(opset));
    return layer;
  }

  void write_constant(pugi::xml_node& data, const Tensor& value) {
    append(data, "element_type", std::string(to_string(value.type())));
    append(data, "shape", without_brackets(to_string(value.shape())));
    append(data, "offset", std::to_string(file_.weights.add(value)));
    append(data, "size", std::to_string(value.size_bytes()));
  }

  // An f16 constant NAME_compressed and the Convert NAME that makes f32 of it, marked as a decompression.
  void write_compressed(const Node& node) {
    const std::size_t constant = next_id_++;
    const Tensor half = detail::compress_to_f16(node.value, file_.clamped_count);
    pugi::xml_node layer = add_layer(constant, node.name + "_compressed", "Const", 1);
    pugi::xml_node data = layer.append_child("data");
    write_constant(data, half);
    const OutputInfo half_info{ElementType::f16, half.shape(), true, {}};
    pugi::xml_node outputs = layer.append_child("output");
    write_port(outputs, 0, half_info);
    const std::size_t id = next_id_++;
    pugi::xml_node convert = add_layer(id, node.name, "Convert", 1);
    pugi::xml_node convert_data = convert.append_child("data");
    append(convert_data, "destination_type", "f32");
    pugi::xml_node mark = convert.append_child("rt_info").append_child("attribute");
    append(mark, "name", "decompression");
    append(mark, "version", "0");
    pugi::xml_node inputs = convert.append_child("input");
    write_port(inputs, 0, half_info);
    write_edge(constant, 0, id, 0);
    pugi::xml_node convert_outputs = convert.append_child("output");
    write_port(convert_outputs, 1, node.outputs.at(0));
    ports_[{node.id, 0}] = {id, 1};
  }

  void write_inputs(pugi::xml_node& layer, std::size_t id, const Node& node) {
    if (node.inputs.empty()) return;
    pugi::xml_node inputs = layer.append_child("input");
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      OutputInfo info = graph_.info(node.inputs[i]);
      info.names.clear();
      write_port(inputs, i, info);
      const FilePort from = ports_.at(node.inputs[i]);
      write_edge(from.layer, from.port, id, i);
    }
  }

  void write_outputs(pugi::xml_node& layer, std::size_t id, const Node& node) {
    if (node.type == "Result" || node.outputs.empty()) return;
    pugi::xml_node outputs = layer.append_child("output");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::size_t port = node.inputs.size() + i;
      write_port(outputs, port, node.outputs[i]);
      ports_[{node.id, static_cast<std::int32_t>(i)}] = {id, port};
    }
    if (node.type == "Parameter" && node.attributes.has("layout")) {
      pugi::xml_node mark = outputs.child("port").append_child("rt_info").append_child("attribute");
      append(mark, "name", "layout");
      append(mark, "version", "0");
      append(mark, "layout", node.attributes.get_string("layout"));
    }
  }

  static void write_port(pugi::xml_node& parent, std::size_t id, const OutputInfo& info) {
    pugi::xml_node port = parent.append_child("port");
    append(port, "id", std::to_string(id));
    append(port, "precision", std::string(precision_name(info.type)));
    if (!info.names.empty()) append(port, "names", join_names(info.names));
    append_dims(port, info);
  }

  void write_edge(std::size_t from_layer, std::size_t from_port, std::size_t to_layer, std::size_t to_port) {
    pugi::xml_node edge = edges_.append_child("edge");
    append(edge, "from-layer", std::to_string(from_layer));
    append(edge, "from-port", std::to_string(from_port));
    append(edge, "to-layer", std::to_string(to_layer));
    append(edge, "to-port", std::to_string(to_port));
  }

  void write_bodies(pugi::xml_node& layer, const Node& node) {
    constexpr std::array<const char*, 2> kBranches = {"then_", "else_"};
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      const std::string prefix = node.type == "If" ? kBranches.at(i) : "";
      pugi::xml_node ports = layer.append_child((prefix + "port_map").c_str());
      pugi::xml_node back_edges = node.type == "If" ? pugi::xml_node() : layer.append_child("back_edges");
      const Writer body(*node.bodies[i].graph, file_, layer.append_child((prefix + "body").c_str()));
      body.write_port_map(node, node.bodies[i], ports);
      for (const BackEdge& edge : node.bodies[i].back_edges) body.write_back_edge(edge, back_edges);
    }
  }

  // Called on the writer of the body, whose layers' ids it knows.
  void write_port_map(const Node& node, const Body& body, pugi::xml_node& ports) const {
    for (const BodyInput& input : body.inputs) {
      pugi::xml_node entry = ports.append_child("input");
      append(entry, "external_port_id", std::to_string(input.input));
      append(entry, "internal_layer_id", std::to_string(layer_of(graph_.parameters().at(input.parameter))));
      append_slice(entry, input.slice);
    }
    if (body.iteration_parameter) {
      pugi::xml_node entry = ports.append_child("input");
      append(entry, "external_port_id", "-1");
      append(entry, "internal_layer_id", std::to_string(layer_of(graph_.parameters().at(*body.iteration_parameter))));
      append(entry, "purpose", "current_iteration");
    }
    for (const BodyOutput& output : body.outputs) {
      pugi::xml_node entry = ports.append_child("output");
      append(entry, "external_port_id", std::to_string(node.inputs.size() + output.output));
      append(entry, "internal_layer_id", std::to_string(layer_of(graph_.results().at(output.result))));
      append_slice(entry, output.slice);
    }
    if (!body.condition_result) return;
    pugi::xml_node entry = ports.append_child("output");
    append(entry, "external_port_id", "-1");
    append(entry, "internal_layer_id", std::to_string(layer_of(graph_.results().at(*body.condition_result))));
    append(entry, "purpose", "execution_condition");
  }

  static void append_slice(pugi::xml_node& entry, const std::optional<BodySlice>& slice) {
    if (!slice) return;
    append(entry, "axis", std::to_string(slice->axis));
    append(entry, "start", std::to_string(slice->start));
    append(entry, "end", std::to_string(slice->end));
    append(entry, "stride", std::to_string(slice->stride));
    append(entry, "part_size", std::to_string(slice->part_size));
  }

  void write_back_edge(const BackEdge& edge, pugi::xml_node& back_edges) const {
    pugi::xml_node entry = back_edges.append_child("edge");
    append(entry, "from-layer", std::to_string(layer_of(graph_.results().at(edge.result))));
    append(entry, "to-layer", std::to_string(layer_of(graph_.parameters().at(edge.parameter))));
  }

  struct FilePort {
    std::size_t layer = 0;
    std::size_t port = 0;
  };

  const Graph& graph_;
  std::vector<NodeId> order_;
  FileState& file_;
  pugi::xml_node layers_;
  pugi::xml_node edges_;
  std::map<PortRef, FilePort> ports_;  // where each tensor comes from in the file
  std::map<NodeId, std::size_t> ids_;
  std::size_t next_id_ = 0;
};

std::string make_xml(const Graph& graph, FileState& file) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  append(declaration, "version", "1.0");
  pugi::xml_node net = document.append_child("net");
  append(net, "name", graph.name);
  append(net, "version", "11");
  const Writer writer(graph, file, net);
  net.append_child("rt_info");
  std::ostringstream text;
  document.save(text, "\t");
  return text.str();
}

}  // namespace

void write_ir(const Graph& graph, const std::string& xml_path, const IrWriteOptions& options) {
  std::filesystem::path path(xml_path);
  if (path.extension() != ".xml") {
    fail(ErrorCode::kInvalidArgument, "output file " + quote(xml_path) + " does not end in .xml");
  }
  FileState file;
  file.compresses = options.compress_to_fp16 && !has_fake_quantize(graph);
  const std::string xml = make_xml(graph, file);
  if (file.clamped_count != 0) {
    log(LogLevel::kWarn, "ir",
        std::to_string(file.clamped_count) + " constant values beyond the range of f16 were set to 65504");
  }
  write_file(path.replace_extension(".bin").string(), file.weights.pieces());
  write_file(xml_path, {as_bytes(xml)});
}

}  // namespace headrace
