// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_graph.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "formats/import/node_order.hpp"

namespace headrace::detail {
namespace {

constexpr std::int64_t kOutside = -1;  // the layer of what comes from outside a body

std::string port_text(const OldIrPortId& port) {
  return "port " + std::to_string(port.second) + " of layer " + std::to_string(port.first);
}

// Halves are computed as floats.
ElementType computed_type(const std::string& precision) {
  const ElementType type = old_ir_type(precision);
  return type == ElementType::f16 ? ElementType::f32 : type;
}

}  // namespace

void OldIrGraph::read() {
  graph_.name = file_.name.empty() ? "network" : file_.name;
  read_layers();
  add_results();
  graph_.remove_dead();
  builder_.store_types();
}

void OldIrGraph::read_layers() {
  connect();
  for (const std::size_t index : order()) convert(file_.layers[index]);
  refusals_.throw_if_any();
}

NodeId OldIrGraph::add_parameter(const OldIrPortId& port) {
  for (const OldIrLayer& layer : file_.layers) {
    if (layer.id != port.first) continue;
    for (const OldIrPort& at : layer.inputs) {
      if (at.id != port.second) continue;
      const OldIrPortId outside = {kOutside, static_cast<std::int64_t>(outside_.size())};
      names_[outside] = "input " + std::to_string(outside_.size()) + " of the body";
      outside_.insert(names_[outside]);
      sources_[port] = outside;
      const ElementType type = computed_type(at.precision);
      const std::string name = layer.name + "." + std::to_string(at.id);
      const PortRef ref = builder_.add_parameter(name, type, PartialShape(at.dims));
      builder_.add_knowledge(ref, type, PartialShape(at.dims), {});
      values_[outside] = ref;
      return ref.node;
    }
  }
  fail(ErrorCode::kBadModel, "the port map names the input " + port_text(port) + ", which the body lacks");
}

NodeId OldIrGraph::add_result(const OldIrPortId& port) {
  const auto value = values_.find(port);
  if (value == values_.end()) {
    fail(ErrorCode::kBadModel, "the port map names the output " + port_text(port) + ", which the body lacks");
  }
  builder_.add_result(port_text(port), value->second);
  return graph_.results().back();
}

void OldIrGraph::connect() {
  std::set<OldIrPortId> inputs;
  std::set<std::int64_t> ids;
  for (const OldIrLayer& layer : file_.layers) {
    if (!ids.insert(layer.id).second) {
      fail(ErrorCode::kBadModel, layer_text(layer) + " has the id " + std::to_string(layer.id) + " of another layer");
    }
    for (const OldIrPort& port : layer.inputs) inputs.insert({layer.id, port.id});
    for (const OldIrPort& port : layer.outputs) names_[{layer.id, port.id}] = port_text({layer.id, port.id});
  }
  for (const OldIrEdge& edge : file_.edges) {
    const OldIrPortId from = {edge.from_layer, edge.from_port};
    const OldIrPortId to = {edge.to_layer, edge.to_port};
    if (names_.count(from) == 0 || inputs.count(to) == 0) {
      fail(ErrorCode::kBadModel,
           "an edge joins " + port_text(from) + " to " + port_text(to) + ", one of which is missing");
    }
    if (!sources_.emplace(to, from).second) fail(ErrorCode::kBadModel, port_text(to) + " has two edges");
    read_.insert(from);
  }
}

std::vector<std::size_t> OldIrGraph::order() const {
  std::vector<NodeNames> nodes;
  std::vector<std::string_view> outputs;
  for (const OldIrLayer& layer : file_.layers) {
    NodeNames& node = nodes.emplace_back();
    for (const OldIrPort& port : layer.inputs) {
      const auto source = sources_.find({layer.id, port.id});
      if (source == sources_.end()) {
        fail(ErrorCode::kBadModel, layer_text(layer) + ": no edge feeds port " + std::to_string(port.id));
      }
      node.inputs.emplace_back(names_.at(source->second));
    }
    for (const OldIrPort& port : layer.outputs) {
      node.outputs.emplace_back(names_.at({layer.id, port.id}));
      outputs.emplace_back(node.outputs.back());
    }
  }
  const auto text_of = [&](std::size_t i) { return layer_text(file_.layers[i]); };
  return order_nodes(nodes, outputs, {[&](std::string_view name) { return outside_.count(name) != 0; }, text_of});
}

void OldIrGraph::convert(const OldIrLayer& layer) {
  std::vector<PortRef> inputs;
  for (const OldIrPort& port : layer.inputs) {
    const auto value = values_.find(sources_.at({layer.id, port.id}));
    if (value == values_.end()) return;  // refused before
    inputs.push_back(value->second);
  }
  try {
    const std::int32_t first_new = builder_.next_id();
    builder_.begin_node(layer.name, readable(layer.type));
    OldIrContext context(builder_, layer, weights_, std::move(inputs));
    const std::vector<PortRef> outputs =
        lowercase(layer.type) == "input" ? std::vector{add_input(layer, context)} : run_converter(layer, context);
    if (outputs.size() < layer.outputs.size()) {
      fail(ErrorCode::kBadModel,
           "has " + std::to_string(layer.outputs.size()) + " outputs, it makes " + std::to_string(outputs.size()));
    }
    keep(layer, context, outputs, first_new);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) rethrow_with_prefix(error, layer_text(layer));
    const std::string reason = error.what();
    refusals_.add(readable(layer.type) + (reason.empty() ? "" : ": " + reason), layer.name);
  }
}

std::vector<PortRef> OldIrGraph::run_converter(const OldIrLayer& layer, OldIrContext& context) {
  if (!layer.bodies.empty()) return add_tensor_iterator(builder_, layer, weights_, context.inputs());
  const OldIrConverter* converter = find_old_ir_converter(layer.type);
  if (converter == nullptr) fail(ErrorCode::kUnsupported, "");
  return converter->convert(context);
}

// Inputs are given in f32 where the network computes in f16, as that time's plugins took them.
PortRef OldIrGraph::add_input(const OldIrLayer& layer, OldIrContext& context) {
  const Shape& shape = context.output_shape();
  const ElementType type = computed_type(layer.outputs[0].precision);
  const PortRef input = builder_.add_parameter(layer.name, type, PartialShape(shape));
  builder_.add_knowledge(input, type, PartialShape(shape), {});
  const PortRef x =
      type == ElementType::u8 || type == ElementType::i8 ? context.convert(input, ElementType::f32) : input;
  const bool has_means =
      !file_.means.empty() && (file_.mean_layer.empty() ? !has_input_ : file_.mean_layer == layer.name);
  has_input_ = true;
  return has_means ? without_means(x, shape, context) : x;
}

PortRef OldIrGraph::without_means(PortRef x, const Shape& shape, OldIrContext& context) {
  constexpr std::int64_t kMaxChannels = 1024;  // means are of pictures
  if (shape.size() != 4 || shape[1] > kMaxChannels)
    fail(ErrorCode::kBadModel, "has means for an input of shape " + to_string(shape));
  const bool has_pictures = std::any_of(file_.means.begin(), file_.means.end(),
                                        [](const OldIrMean& mean) { return mean.picture.has_value(); });
  const Shape of_mean = has_pictures ? Shape{1, 1, shape[2], shape[3]} : Shape{1, 1, 1, 1};
  std::vector<PortRef> channels(static_cast<std::size_t>(shape[1]), context.filled(0, ElementType::f32, of_mean));
  for (const OldIrMean& mean : file_.means) {
    if (mean.channel < 0 || mean.channel >= shape[1]) {
      fail(ErrorCode::kBadModel, "has a mean for channel " + std::to_string(mean.channel));
    }
    channels[static_cast<std::size_t>(mean.channel)] =
        mean.picture
            ? context.convert(context.constant(read_old_ir_blob(*mean.picture, of_mean, weights_)), ElementType::f32)
            : context.filled(mean.value, ElementType::f32, of_mean);
  }
  return context.binary("Subtract", x, context.concat(channels, 1));
}

// Checks what the file says of the shapes: in this format it must be exact, so a difference is a misreading.
void OldIrGraph::keep(const OldIrLayer& layer, const OldIrContext& context, const std::vector<PortRef>& outputs,
                      std::int32_t first_new) {
  if (!outputs.empty() && outputs[0].node.value >= first_new && graph_.at(outputs[0].node).type != "Parameter") {
    graph_.at(outputs[0].node).name = builder_.unique_name(layer.name);
  }
  for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
    const auto shape = context.static_shape(outputs[i]);
    const Shape& declared = layer.outputs[i].dims;
    if (shape && !declared.empty() && *shape != declared) {
      fail(ErrorCode::kBadModel, "its output has shape " + to_string(declared) + " in the file, but " +
                                     to_string(*shape) + " by its attributes and inputs");
    }
    values_[{layer.id, layer.outputs[i].id}] = outputs[i];
  }
}

void OldIrGraph::add_results() {
  for (const OldIrLayer& layer : file_.layers) {
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      const OldIrPortId port = {layer.id, layer.outputs[i].id};
      if (read_.count(port) != 0 || lowercase(layer.type) == "input") continue;
      builder_.add_output(layer.outputs.size() == 1 ? layer.name : layer.name + "." + std::to_string(i),
                          values_.at(port));
    }
  }
  if (graph_.results().empty()) fail(ErrorCode::kBadModel, "the network has no outputs");
}

}  // namespace headrace::detail
