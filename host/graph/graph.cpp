// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "core/error.hpp"

namespace headrace {
namespace {

std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id.value); }

// What stays of a removed node: its id alone, so that walks over all nodes can look up whether it lives.
Node tombstone(NodeId id) {
  Node node;
  node.id = id;
  return node;
}

// Names of the nodes that a topological sort could not place: they are on a cycle or behind one.
std::string cycle_names(const Graph& graph, const std::vector<std::int32_t>& missing_inputs) {
  constexpr std::size_t kMaxShown = 8;
  std::string names;
  std::size_t count = 0;
  for (const NodeId id : graph.nodes()) {
    if (missing_inputs[index_of(id)] <= 0 || ++count > kMaxShown) continue;
    names += (names.empty() ? "" : ", ") + ("'" + graph.at(id).name + "'");
  }
  return names + (count > kMaxShown ? ", ..." : "");
}

// Checks that the numbers of a body's ports exist on both sides.
void verify_body(const Node& node, const Body& body, int depth);

void verify_graph(const Graph& graph, int depth) {
  HEADRACE_ASSERT(depth <= kMaxBodyDepth, "bodies are nested too deep");
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.at(id);
    for (const PortRef& input : node.inputs) static_cast<void>(graph.info(input));
    HEADRACE_ASSERT(node.type != "Result" || node.inputs.size() == 1, "a Result has one input");
    HEADRACE_ASSERT(node.type != "Parameter" || node.inputs.empty(), "a Parameter has no input");
    HEADRACE_ASSERT(node.type != "Const" || (node.outputs.size() == 1 && node.value.shape() == node.outputs[0].shape &&
                                             node.value.type() == node.outputs[0].type),
                    "a constant's value has its declared type and shape");
    for (const std::int32_t extra : {node.epilogue.bias_input, node.epilogue.residual_input}) {
      HEADRACE_ASSERT(extra < static_cast<std::int32_t>(node.inputs.size()), "epilogue input exists");
    }
    for (const Body& body : node.bodies) verify_body(node, body, depth + 1);
  }
  static_cast<void>(graph.topological_order());
}

void verify_body(const Node& node, const Body& body, int depth) {
  HEADRACE_ASSERT(body.graph != nullptr, "a body has a graph");
  const std::size_t parameters = body.graph->parameters().size();
  const std::size_t results = body.graph->results().size();
  for (const BodyInput& input : body.inputs) {
    HEADRACE_ASSERT(input.input < node.inputs.size() && input.parameter < parameters, "a body's input exists");
  }
  for (const BodyOutput& output : body.outputs) {
    HEADRACE_ASSERT(output.output < node.outputs.size() && output.result < results, "a body's output exists");
  }
  for (const BackEdge& edge : body.back_edges) {
    HEADRACE_ASSERT(edge.parameter < parameters && edge.result < results, "a body's back edge joins what exists");
  }
  HEADRACE_ASSERT(body.iteration_parameter.value_or(0) < std::max<std::size_t>(parameters, 1), "Parameter exists");
  HEADRACE_ASSERT(body.condition_result.value_or(0) < std::max<std::size_t>(results, 1), "Result exists");
  verify_graph(*body.graph, depth);
}

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    result += "  " + text.substr(start, end - start);
    start = end;
  }
  return result;
}

}  // namespace

NodeId Graph::add(Node node) {
  node.id = NodeId{static_cast<std::int32_t>(nodes_.size())};
  if (node.type == "Parameter") parameters_.push_back(node.id);
  if (node.type == "Result") results_.push_back(node.id);
  if (node.source_type.empty()) node.source_type = node.type;
  nodes_.push_back(std::move(node));
  is_live_.push_back(true);
  return nodes_.back().id;
}

NodeId Graph::add_const(std::string node_name, Tensor value) {
  Node node;
  node.name = std::move(node_name);
  node.type = "Const";
  node.outputs.push_back({value.type(), value.shape(), true, {}});
  node.value = std::move(value);
  return add(std::move(node));
}

bool Graph::contains(NodeId id) const {
  return id.is_valid() && index_of(id) < nodes_.size() && is_live_[index_of(id)];
}

Node& Graph::at(NodeId id) {
  HEADRACE_ASSERT(contains(id), "no such node");
  return nodes_[index_of(id)];
}

const Node& Graph::at(NodeId id) const {
  HEADRACE_ASSERT(contains(id), "no such node");
  return nodes_[index_of(id)];
}

const OutputInfo& Graph::info(PortRef ref) const {
  const Node& node = at(ref.node);
  HEADRACE_ASSERT(ref.port >= 0 && static_cast<std::size_t>(ref.port) < node.outputs.size(), "no such output");
  return node.outputs[static_cast<std::size_t>(ref.port)];
}

std::vector<NodeId> Graph::nodes() const {
  std::vector<NodeId> ids;
  for (const Node& node : nodes_) {
    if (is_live_[index_of(node.id)]) ids.push_back(node.id);
  }
  return ids;
}

std::vector<Graph::User> Graph::users(PortRef ref) const {
  std::vector<User> result;
  for (const Node& node : nodes_) {
    if (!is_live_[index_of(node.id)]) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == ref) result.push_back({node.id, static_cast<std::int32_t>(i)});
    }
  }
  return result;
}

void Graph::set_input(NodeId node, std::size_t index, PortRef source) {
  auto& inputs = at(node).inputs;
  if (inputs.size() <= index) inputs.resize(index + 1);
  inputs[index] = source;
}

void Graph::replace_uses(PortRef from, PortRef to) {
  for (const User& user : users(from)) set_input(user.node, static_cast<std::size_t>(user.input), to);
  auto& old_names = at(from.node).outputs[static_cast<std::size_t>(from.port)].names;
  auto& new_names = at(to.node).outputs[static_cast<std::size_t>(to.port)].names;
  for (std::string& tensor_name : old_names) {
    if (std::find(new_names.begin(), new_names.end(), tensor_name) == new_names.end()) {
      new_names.push_back(std::move(tensor_name));
    }
  }
  old_names.clear();
}

void Graph::remove(NodeId id) {
  const Node& node = at(id);
  HEADRACE_ASSERT(node.type != "Parameter", "a Parameter is part of the network's interface");
  for (std::size_t port = 0; port < node.outputs.size(); ++port) {
    HEADRACE_ASSERT(users({id, static_cast<std::int32_t>(port)}).empty(), "removed node is still read");
  }
  std::erase(results_, id);
  is_live_[index_of(id)] = false;
  nodes_[index_of(id)] = tombstone(id);
}

std::size_t Graph::remove_dead() {
  std::vector<bool> is_reached(nodes_.size(), false);
  std::vector<NodeId> stack(results_.begin(), results_.end());
  stack.insert(stack.end(), parameters_.begin(), parameters_.end());
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (is_reached[index_of(id)]) continue;
    is_reached[index_of(id)] = true;
    for (const PortRef& input : at(id).inputs) stack.push_back(input.node);
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!is_live_[i] || is_reached[i]) continue;
    is_live_[i] = false;
    nodes_[i] = tombstone(nodes_[i].id);
    ++count;
  }
  return count;
}

std::vector<NodeId> Graph::topological_order() const {
  const UserMap user_map(*this);
  std::vector<std::int32_t> missing(nodes_.size(), 0);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (const NodeId id : nodes()) {
    missing[index_of(id)] = static_cast<std::int32_t>(at(id).inputs.size());
    if (at(id).inputs.empty()) ready.push(id);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (std::size_t port = 0; port < at(id).outputs.size(); ++port) {
      for (const User& user : user_map.of({id, static_cast<std::int32_t>(port)})) {
        if (--missing[index_of(user.node)] == 0) ready.push(user.node);
      }
    }
  }
  if (order.size() != nodes().size()) {
    fail(ErrorCode::kBadModel, "the graph has a cycle through or before layers " + cycle_names(*this, missing));
  }
  return order;
}

NodeId Graph::find(std::string_view node_name) const {
  for (const Node& node : nodes_) {
    if (is_live_[index_of(node.id)] && node.name == node_name) return node.id;
  }
  return {};
}

UserMap::UserMap(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    if (users_.size() <= index_of(id)) users_.resize(index_of(id) + 1);
    users_[index_of(id)].resize(graph.at(id).outputs.size());
  }
  for (const NodeId id : graph.nodes()) {
    const auto& inputs = graph.at(id).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      static_cast<void>(graph.info(inputs[i]));  // throws on an input that does not exist
      users_[index_of(inputs[i].node)][static_cast<std::size_t>(inputs[i].port)].push_back(
          {id, static_cast<std::int32_t>(i)});
    }
  }
}

const std::vector<Graph::User>& UserMap::of(PortRef ref) const {
  return users_.at(index_of(ref.node)).at(static_cast<std::size_t>(ref.port));
}

void verify(const Graph& graph, std::string_view after) {
  try {
    verify_graph(graph, 0);
  } catch (const Error& error) {
    rethrow_with_prefix(error, "after " + std::string(after));
  }
}

std::string dump(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    text += "%" + std::to_string(id.value) + " = " + node.type + " '" + node.name + "'(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text += (i == 0 ? "%" : ", %") + std::to_string(node.inputs[i].node.value);
      if (node.inputs[i].port != 0) text += ":" + std::to_string(node.inputs[i].port);
    }
    text += ")";
    for (const auto& [key, value] : node.attributes.values()) text += " " + key + "=[" + to_string(value) + "]";
    if (!node.epilogue.is_empty()) {
      text += " epilogue{bias=" + std::to_string(node.epilogue.bias_input) +
              " residual=" + std::to_string(node.epilogue.residual_input) + " " +
              std::string(to_string(node.epilogue.activation)) + "}";
    }
    for (const OutputInfo& output : node.outputs) {
      text += " -> " + std::string(to_string(output.type)) +
              (output.is_resolved ? to_string(output.shape) : std::string("[?]"));
    }
    for (const std::string& fused : node.fused_names) text += " +'" + fused + "'";
    text += "\n";
    for (const Body& body : node.bodies) text += indented(dump(*body.graph));
  }
  return text;
}

std::string output_name(const Graph& graph, NodeId result) {
  const Node& node = graph.at(result);
  if (node.attributes.has("output_name")) return node.attributes.get_string("output_name");
  const PortRef source = node.inputs.at(0);
  const OutputInfo& info = graph.info(source);
  if (!info.names.empty()) return info.names.front();
  const Node& producer = graph.at(source.node);
  return producer.outputs.size() == 1 ? producer.name : producer.name + "." + std::to_string(source.port);
}

std::string input_name(const Graph& graph, NodeId parameter) {
  const Node& node = graph.at(parameter);
  const auto& names = node.outputs.at(0).names;
  return names.empty() ? node.name : names.front();
}

bool is_const(const Graph& graph, PortRef ref) { return graph.at(ref.node).type == "Const"; }

std::string_view to_string(Activation activation) {
  constexpr std::array<std::string_view, 16> kNames = {
      "none", "relu", "clamp",    "leaky_relu", "sigmoid", "swish",    "hswish",       "hsigmoid",
      "tanh", "elu",  "gelu_erf", "gelu_tanh",  "mish",    "softplus", "hard_sigmoid", "fake_quantize"};
  return kNames.at(static_cast<std::size_t>(activation));
}

}  // namespace headrace
