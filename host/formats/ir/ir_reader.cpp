// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_reader.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/ir/ir_bodies.hpp"
#include "formats/ir/ir_constant.hpp"
#include "formats/ir/ir_file.hpp"
#include "formats/ir/ir_xml.hpp"
#include "ops/descriptor.hpp"

namespace headrace {
namespace {

using detail::IrEdge;
using detail::IrFile;
using detail::IrLayer;
using detail::IrPort;
using detail::layer_text;

constexpr std::int32_t kMaxOpset = 17;

// The tensor that feeds an input: index of the layer in IrFile::layers and index of its output.
struct Source {
  std::size_t layer = 0;
  std::size_t port = 0;
};

using LayerSources = std::vector<std::optional<Source>>;  // one per input port

// Finds layers by id and the index of a port by layer and port id, in logarithmic time whatever the file holds.
class PortIndex {
 public:
  explicit PortIndex(const IrFile& file) : file_(file) {
    for (std::size_t i = 0; i < file.layers.size(); ++i) {
      const auto [old, is_new] = layers_.emplace(file.layers[i].id, i);
      if (!is_new) {
        fail(ErrorCode::kBadModel, layer_text(file.layers[old->second]) + " and " + layer_text(file.layers[i]) +
                                       " have the same id " + std::to_string(file.layers[i].id));
      }
      add_ports(i, file.layers[i].inputs, inputs_);
      add_ports(i, file.layers[i].outputs, outputs_);
    }
  }

  Source output(std::int64_t layer_id, std::int64_t port_id) const {
    const std::size_t layer = at_layer(layer_id);
    return {layer, at_port(layer, port_id, outputs_, "output")};
  }
  Source input(std::int64_t layer_id, std::int64_t port_id) const {
    const std::size_t layer = at_layer(layer_id);
    return {layer, at_port(layer, port_id, inputs_, "input")};
  }

 private:
  using PortMap = std::map<std::pair<std::size_t, std::int64_t>, std::size_t>;

  void add_ports(std::size_t layer, const std::vector<IrPort>& ports, PortMap& map) const {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (!map.emplace(std::pair{layer, ports[i].id}, i).second) {
        fail(ErrorCode::kBadModel,
             layer_text(file_.layers[layer]) + " has two ports with the id " + std::to_string(ports[i].id));
      }
    }
  }

  std::size_t at_layer(std::int64_t id) const {
    const auto found = layers_.find(id);
    if (found == layers_.end()) fail(ErrorCode::kBadModel, "no layer has the id " + std::to_string(id));
    return found->second;
  }

  std::size_t at_port(std::size_t layer, std::int64_t id, const PortMap& map, std::string_view kind) const {
    const auto found = map.find({layer, id});
    if (found == map.end()) {
      fail(ErrorCode::kBadModel, layer_text(file_.layers[layer]) + " has no " + std::string(kind) +
                                     " port with the id " + std::to_string(id));
    }
    return found->second;
  }

  const IrFile& file_;
  std::map<std::int64_t, std::size_t> layers_;
  PortMap inputs_;
  PortMap outputs_;
};

std::string edge_text(const IrEdge& edge) {
  return "edge from layer " + std::to_string(edge.from_layer) + " port " + std::to_string(edge.from_port) +
         " to layer " + std::to_string(edge.to_layer) + " port " + std::to_string(edge.to_port);
}

void connect(const IrEdge& edge, const PortIndex& index, std::vector<LayerSources>& sources) {
  try {
    const Source from = index.output(edge.from_layer, edge.from_port);
    const Source to = index.input(edge.to_layer, edge.to_port);
    std::optional<Source>& slot = sources[to.layer][to.port];
    if (slot) fail(ErrorCode::kBadModel, "the input has another edge already");
    slot = from;
  } catch (const Error& error) {
    rethrow_with_prefix(error, edge_text(edge));
  }
}

// Returns for every layer what feeds its inputs, the optional ones at the end dropped where nothing does.
std::vector<LayerSources> connect_layers(const IrFile& file) {
  const PortIndex index(file);
  std::vector<LayerSources> sources;
  for (const IrLayer& layer : file.layers) sources.emplace_back(layer.inputs.size());
  for (const IrEdge& edge : file.edges) connect(edge, index, sources);
  for (LayerSources& inputs : sources) {
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  }
  return sources;
}

// The canonical spelling of a layer's type; empty for an unknown one.
std::vector<std::string> canonical_types(const IrFile& file) {
  std::vector<std::string> types;
  for (const IrLayer& layer : file.layers) types.push_back(canonical_type(layer.type).value_or(""));
  return types;
}

// Marks what a Result needs, and every Parameter. Assign is a root as well: it must be refused, not dropped.
std::vector<bool> find_live(const IrFile& file, const std::vector<std::string>& types,
                            const std::vector<LayerSources>& sources) {
  std::vector<bool> is_live(file.layers.size(), false);
  std::vector<std::size_t> stack;
  for (std::size_t i = 0; i < file.layers.size(); ++i) {
    if (types[i] == "Result" || types[i] == "Parameter" || file.layers[i].type == "Assign") stack.push_back(i);
  }
  while (!stack.empty()) {
    const std::size_t layer = stack.back();
    stack.pop_back();
    if (is_live[layer]) continue;
    is_live[layer] = true;
    for (std::size_t i = 0; i < sources[layer].size(); ++i) {
      if (!sources[layer][i]) {
        fail(ErrorCode::kBadModel, layer_text(file.layers[layer]) + ": no edge feeds input " + std::to_string(i));
      }
      stack.push_back(sources[layer][i]->layer);
    }
  }
  return is_live;
}

// The opset's number, or nothing for "extension" and the like.
std::optional<std::int32_t> parse_opset(std::string_view version) {
  constexpr std::string_view kPrefix = "opset";
  if (version.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  const std::string_view digits = version.substr(kPrefix.size());
  std::int32_t opset = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), opset);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (opset < 1 || opset > kMaxOpset) return std::nullopt;
  return opset;
}

// Collects what is unsupported, so that one error tells the user all of it.
class Refusals {
 public:
  void add(const std::string& what, const std::string& layer, const std::string& hint = "") {
    const auto [entry, is_new] = index_.emplace(what, items_.size());
    if (is_new) items_.push_back({what, layer, hint, 0});
    ++items_[entry->second].count;
  }

  void throw_if_any() const {
    if (items_.empty()) return;
    constexpr std::size_t kMaxShown = 40;
    std::string message = "not supported: ";
    for (std::size_t i = 0; i < std::min(items_.size(), kMaxShown); ++i) {
      message += (i == 0 ? "" : ", ") + text_of(items_[i]);
    }
    if (items_.size() > kMaxShown) message += " and " + std::to_string(items_.size() - kMaxShown) + " more";
    fail(ErrorCode::kUnsupported, message);
  }

 private:
  struct Item {
    std::string what;
    std::string layer;  // the first one's name
    std::string hint;
    std::size_t count = 0;
  };

  static std::string text_of(const Item& item) {
    const std::string count = item.count == 1 ? "layer " : std::to_string(item.count) + " layers, first ";
    return item.what + " (" + count + quote(item.layer) + item.hint + ")";
  }

  std::vector<Item> items_;
  std::map<std::string, std::size_t> index_;
};

std::string nearest_hint(const std::string& type) {
  std::string hint;
  for (const std::string& name : nearest_types(type)) hint += (hint.empty() ? "; near: " : ", ") + name;
  return hint;
}

// Notes an operator, opset or element type that is not supported. Returns whether there was none.
bool note_unsupported(const IrLayer& layer, const std::string& type, Refusals& refusals) {
  const bool is_structural = type == "Parameter" || type == "Result" || type == "Const";
  const std::string shown = layer.type.substr(0, 60) + " " + layer.version.substr(0, 30);
  bool is_ok = true;
  if (!is_structural && (type.empty() || find_op(type) == nullptr)) {
    refusals.add(shown, layer.name, nearest_hint(layer.type));
    is_ok = false;
  } else if (!parse_opset(layer.version)) {
    refusals.add(shown, layer.name);
    is_ok = false;
  }
  std::vector<std::string> names;
  if (type == "Parameter" || type == "Const") names.push_back(detail::declared_type(layer));
  for (const IrPort& port : layer.outputs) names.push_back(port.precision);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    // Ports of some files say nothing or "UNSPECIFIED": inference finds the type.
    if (name.empty() || name == "UNSPECIFIED" || name == "dynamic" || find_element_type(name)) continue;
    refusals.add("element type " + name.substr(0, 30), layer.name);
    is_ok = false;
  }
  return is_ok;
}

std::vector<OutputInfo> declared_outputs(const IrLayer& layer) {
  std::vector<OutputInfo> outputs;
  for (const IrPort& port : layer.outputs) {
    outputs.push_back({find_element_type(port.precision).value_or(ElementType::f32), {}, false, port.names});
  }
  return outputs;
}

void fill_parameter(const IrLayer& layer, Node& node) {
  const std::optional<ElementType> type = find_element_type(detail::declared_type(layer));
  if (!type) fail(ErrorCode::kBadModel, "attribute 'element_type' is missing");
  node.declared_shape = detail::declared_shape(layer);
  node.outputs.resize(1);
  node.outputs[0].type = *type;
  node.outputs[0].is_resolved = node.declared_shape.is_static();
  if (node.outputs[0].is_resolved) node.outputs[0].shape = node.declared_shape.to_shape();
  if (!layer.outputs.empty() && !layer.outputs[0].layout.empty()) {
    node.attributes.set("layout", layer.outputs[0].layout);
  }
}

void fill_constant(const IrLayer& layer, const WeightsBlob& weights, Node& node) {
  node.value = detail::read_constant(layer, weights);
  node.outputs.resize(1);
  node.outputs[0].type = node.value.type();
  node.outputs[0].shape = node.value.shape();
  node.outputs[0].is_resolved = true;
}

std::vector<Body> build_bodies(const IrLayer& layer, const WeightsBlob& weights);

Node make_node(const IrLayer& layer, const std::string& type, const WeightsBlob& weights) {
  Node node;
  node.name = layer.name;
  node.type = type;
  node.source_type = layer.type;
  node.opset = parse_opset(layer.version).value_or(1);
  node.outputs = declared_outputs(layer);
  if (type == "Parameter") {
    fill_parameter(layer, node);
  } else if (type == "Const") {
    fill_constant(layer, weights, node);
  } else if (type == "Result") {
    node.outputs.clear();
    if (!layer.output_names.empty()) node.attributes.set("output_name", layer.output_names.front());
  } else {
    const OpDescriptor* op = find_op(type);
    HEADRACE_ASSERT(op != nullptr && op->parse != nullptr, "every operator has a parse function");
    node.attributes = op->parse(type, node.opset, layer.data);
    node.bodies = build_bodies(layer, weights);
  }
  return node;
}

// Names that only the Result carries go to the tensor, behind its own.
void add_result_names(const IrLayer& layer, OutputInfo& tensor) {
  for (const std::string& name : layer.output_names) {
    if (std::find(tensor.names.begin(), tensor.names.end(), name) == tensor.names.end()) tensor.names.push_back(name);
  }
}

// A graph with the nodes that its layers became, by the layers' ids.
struct BuiltGraph {
  Graph graph;
  std::map<std::int64_t, NodeId> ids;
};

BuiltGraph build_graph(const IrFile& file, const WeightsBlob& weights);

std::vector<Body> build_bodies(const IrLayer& layer, const WeightsBlob& weights) {
  std::vector<Body> bodies;
  for (const detail::IrBody& body : layer.bodies) {
    BuiltGraph built = build_graph(body.graph, weights);
    bodies.push_back(detail::join_body(layer, body, std::move(built.graph), built.ids));
  }
  return bodies;
}

// Adds the layer, or notes why its operator refuses it.
NodeId add_layer(const IrLayer& layer, const std::string& type, const WeightsBlob& weights, Graph& graph,
                 Refusals& refusals) {
  try {
    return graph.add(make_node(layer, type, weights));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) rethrow_with_prefix(error, layer_text(layer));
    refusals.add(layer.type + " " + layer.version + ": " + error.what(), layer.name);
  }
  return {};
}

BuiltGraph build_graph(const IrFile& file, const WeightsBlob& weights) {
  const std::vector<LayerSources> sources = connect_layers(file);
  const std::vector<std::string> types = canonical_types(file);
  if (std::find(types.begin(), types.end(), "Result") == types.end()) {
    fail(ErrorCode::kBadModel, "the network has no Result layer");
  }
  const std::vector<bool> is_live = find_live(file, types, sources);
  Refusals refusals;
  BuiltGraph built;
  Graph& graph = built.graph;
  graph.name = file.name;
  std::vector<NodeId> ids(file.layers.size());
  for (std::size_t i = 0; i < file.layers.size(); ++i) {
    if (!is_live[i] || !note_unsupported(file.layers[i], types[i], refusals)) continue;
    ids[i] = add_layer(file.layers[i], types[i], weights, graph, refusals);
    built.ids[file.layers[i].id] = ids[i];
  }
  refusals.throw_if_any();
  for (std::size_t i = 0; i < file.layers.size(); ++i) {
    if (!is_live[i]) continue;
    Node& node = graph.at(ids[i]);
    for (const std::optional<Source>& source : sources[i]) {
      // A file may give a Result output ports.
      if (types[source->layer] == "Result") {
        fail(ErrorCode::kBadModel,
             layer_text(file.layers[i]) + " reads " + layer_text(file.layers[source->layer]) + ", which has no output");
      }
      node.inputs.push_back({ids[source->layer], static_cast<std::int32_t>(source->port)});
    }
    const bool has_wrong_inputs = (node.type == "Result" && node.inputs.size() != 1) ||
                                  ((node.type == "Parameter" || node.type == "Const") && !node.inputs.empty());
    if (has_wrong_inputs) {
      fail(ErrorCode::kBadModel, layer_text(file.layers[i]) + " has " + std::to_string(node.inputs.size()) + " inputs");
    }
    if (node.type == "Result") {
      const PortRef from = node.inputs[0];
      add_result_names(file.layers[i], graph.at(from.node).outputs[static_cast<std::size_t>(from.port)]);
    }
  }
  static_cast<void>(graph.topological_order());  // throws on a cycle
  return built;
}

}  // namespace

WeightsBlob map_ir_weights(const std::string& xml_path, const std::string& weights_path) {
  WeightsBlob weights;
  weights.name =
      weights_path.empty() ? std::filesystem::path(xml_path).replace_extension(".bin").string() : weights_path;
  MappedFile file;
  try {
    file = map_file(weights.name);
  } catch (const Error& error) {
    // A network without constants needs no weights; a file that the user named must be there.
    if (!weights_path.empty()) throw;
    weights.problem = error.what();
    return weights;
  }
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  if (text.substr(0, 5) == "<?xml") {
    fail(ErrorCode::kBadModel, "the weights file " + quote(weights.name) + " is XML, expected the network's .bin");
  }
  weights.owner = file.owner;
  weights.bytes = file.bytes;
  return weights;
}

Graph parse_ir(std::string_view xml, const WeightsBlob& weights) {
  return build_graph(detail::parse_ir_file(std::string(xml)), weights).graph;
}

Graph read_ir(const std::string& xml_path, const std::string& weights_path) {
  std::string xml = read_file(xml_path, detail::kMaxXmlBytes, "XML");
  const WeightsBlob weights = map_ir_weights(xml_path, weights_path);
  try {
    return build_graph(detail::parse_ir_file(std::move(xml)), weights).graph;
  } catch (const Error& error) {
    rethrow_with_prefix(error, quote(xml_path));
  }
}

}  // namespace headrace
