// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_impl.hpp"

#include <algorithm>

#include "ops/descriptor.hpp"
#include "passes/infer_shapes.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kToNchw[] = {0, 3, 1, 2};
constexpr std::int64_t kToNhwc[] = {0, 2, 3, 1};

PartialShape to_nhwc(const PartialShape& shape) {
  PartialShape result = shape;
  for (std::size_t i = 0; i < 4; ++i) result.dims[i] = shape.dims[static_cast<std::size_t>(kToNhwc[i])];
  return result;
}

NodeId add_op(Graph& graph, std::string_view type, std::string name, const RawAttributes& raw,
              std::vector<PortRef> inputs) {
  const OpDescriptor* op = find_op(type);
  HEADRACE_ASSERT(op != nullptr, "operator for the ports of a model is missing");
  Node node;
  node.name = std::move(name);
  node.type = std::string(type);
  node.source_type = node.type;
  node.attributes = op->parse(type, 1, raw);
  node.inputs = std::move(inputs);
  node.outputs.resize(1);
  return graph.add(std::move(node));
}

NodeId add_convert(Graph& graph, const std::string& name, ElementType type, PortRef source) {
  return add_op(graph, "Convert", name + "/to_" + std::string(to_string(type)),
                {{"destination_type", std::string(to_string(type))}}, {source});
}

NodeId add_transpose(Graph& graph, const std::string& name, std::span<const std::int64_t> order, PortRef source) {
  const NodeId constant = graph.add_const(name + "/order", make_i64_tensor({4}, order));
  return add_op(graph, "Transpose", name + "/transpose", {}, {source, {constant, 0}});
}

void apply_input_wishes(Graph& graph, NodeId id, const PortWishes& wishes) {
  const std::string name = graph.at(id).name;
  const ElementType network_type = graph.at(id).outputs[0].type;
  const PortRef source{id, 0};
  const std::vector<Graph::User> users = graph.users(source);
  PortRef last = source;
  if (wishes.type && *wishes.type != network_type) {
    graph.at(id).outputs[0].type = *wishes.type;
    last = {add_convert(graph, name, network_type, last), 0};
  }
  if (wishes.is_nhwc) {
    graph.at(id).declared_shape = to_nhwc(graph.at(id).declared_shape);
    last = {add_transpose(graph, name, kToNchw, last), 0};
  }
  if (wishes.shape) graph.at(id).declared_shape = PartialShape(*wishes.shape);
  if (last == source) return;
  for (const Graph::User& user : users) graph.set_input(user.node, static_cast<std::size_t>(user.input), last);
}

void apply_output_wishes(Graph& graph, NodeId id, const PortWishes& wishes) {
  const std::string name = output_name(graph, id);
  const PortRef source = graph.at(id).inputs[0];
  PortRef last = source;
  if (wishes.is_nhwc) last = {add_transpose(graph, name, kToNhwc, last), 0};
  // A producer's type may be unknown before shapes are inferred; Convert to the same type changes nothing.
  if (wishes.type) last = {add_convert(graph, name, *wishes.type, last), 0};
  if (last != source) graph.set_input(id, 0, last);
}

PortInfo input_port(const Graph& graph, NodeId id, const PortWishes& wishes) {
  const Node& node = graph.at(id);
  PortInfo info{input_name(graph, id), node.outputs[0].names, wishes.type.value_or(node.outputs[0].type),
                node.declared_shape};
  if (wishes.is_nhwc) info.shape = to_nhwc(info.shape);
  if (wishes.shape) info.shape = PartialShape(*wishes.shape);
  return info;
}

// A copy of the graph with the shapes that are known before the run; unresolved where they are not.
Graph resolved_copy(const Model::Impl& model) {
  Graph graph = make_wished_graph(model);
  try {
    infer_shapes(graph);
  } catch (const Error&) {
    // The same error, with its layer, comes up when the model is compiled.
  }
  return graph;
}

bool is_same_name(std::string_view port, std::string_view name) {
  return port == name || (name.ends_with(":0") && port == name.substr(0, name.size() - 2)) ||
         (port.ends_with(":0") && port.substr(0, port.size() - 2) == name);
}

}  // namespace

Model make_model(Graph graph) {
  auto impl = std::make_shared<Model::Impl>();
  impl->inputs.resize(graph.parameters().size());
  impl->outputs.resize(graph.results().size());
  impl->graph = std::make_shared<const Graph>(std::move(graph));
  return Model(std::move(impl));
}

std::vector<std::string> input_layers(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.parameters()) names.push_back(graph.at(id).name);
  return names;
}

std::vector<std::string> output_layers(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.results()) names.push_back(graph.at(graph.at(id).inputs[0]).name);
  return names;
}

std::vector<PortInfo> input_ports(const Model::Impl& model) {
  std::vector<PortInfo> ports;
  const auto& parameters = model.graph->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    ports.push_back(input_port(*model.graph, parameters[i], model.inputs[i]));
  }
  return ports;
}

std::vector<PortInfo> output_ports(const Model::Impl& model) {
  const Graph resolved = resolved_copy(model);
  std::vector<PortInfo> ports;
  const auto& results = model.graph->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const OutputInfo& original = model.graph->info(model.graph->at(results[i]).inputs[0]);
    const OutputInfo& info = resolved.info(resolved.at(results[i]).inputs[0]);
    PortInfo port{output_name(*model.graph, results[i]), original.names, model.outputs[i].type.value_or(info.type), {}};
    if (info.is_resolved) {
      port.shape = PartialShape(info.shape);
    } else {
      port.shape.is_rank_known = false;
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

std::optional<std::size_t> find_port_or_nothing(std::span<const PortInfo> ports, std::span<const std::string> also,
                                                std::string_view name) {
  if (name.empty()) return ports.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  // Outputs of one tensor share its names, so the port's own name goes first.
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
  }
  const auto find = [&](auto is_match) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const auto& names = ports[i].names;
      if (is_match(ports[i].name) || std::any_of(names.begin(), names.end(), is_match) || is_match(also[i])) return i;
    }
    return std::nullopt;
  };
  // The exact name first: a file may hold both "x" and "x:0".
  const auto exact = find([&](const std::string& port) { return port == name; });
  return exact ? exact : find([&](const std::string& port) { return is_same_name(port, name); });
}

std::size_t find_port(std::span<const PortInfo> ports, std::span<const std::string> also, std::string_view name,
                      std::string_view what) {
  if (const auto found = find_port_or_nothing(ports, also, name)) return *found;
  std::string known;
  for (const PortInfo& port : ports) known += (known.empty() ? "'" : ", '") + port.name + "'";
  fail(ErrorCode::kInvalidArgument, "no " + std::string(what) + " '" + std::string(name) + "'; the model has " + known);
}

std::vector<Shape> wished_shapes(const Model::Impl& model) {
  std::vector<Shape> shapes;
  for (const PortInfo& input : input_ports(model)) {
    if (!input.shape.is_static()) {
      fail(ErrorCode::kInvalidArgument,
           "input '" + input.name + "' has the shape " + to_string(input.shape) + "; give a full one (--input-shape)");
    }
    shapes.push_back(input.shape.to_shape());
  }
  return shapes;
}

Graph make_wished_graph(const Model::Impl& model) {
  Graph graph = *model.graph;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    apply_input_wishes(graph, model.graph->parameters()[i], model.inputs[i]);
  }
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    apply_output_wishes(graph, model.graph->results()[i], model.outputs[i]);
  }
  return graph;
}

}  // namespace headrace
