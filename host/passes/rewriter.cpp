// SPDX-License-Identifier: Apache-2.0
#include "passes/rewriter.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace headrace {
namespace {

std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id.value); }
std::size_t index_of(std::int32_t port) { return static_cast<std::size_t>(port); }

void append_new(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

}  // namespace

Rewriter::Rewriter(Graph& graph) : graph_(graph) {
  const UserMap map(graph);
  for (const NodeId id : graph.nodes()) {
    users_.resize(index_of(id) + 1);
    for (std::size_t port = 0; port < graph.at(id).outputs.size(); ++port) {
      users_[index_of(id)].push_back(map.of({id, static_cast<std::int32_t>(port)}));
    }
  }
  is_removed_.resize(users_.size(), false);
}

bool Rewriter::is_removed(NodeId id) const { return is_removed_.at(index_of(id)); }

const std::vector<Graph::User>& Rewriter::users(PortRef ref) const {
  return users_.at(index_of(ref.node)).at(index_of(ref.port));
}

bool Rewriter::is_output(PortRef ref) const {
  const auto& readers = users(ref);
  return std::any_of(readers.begin(), readers.end(),
                     [&](const Graph::User& user) { return graph_.at(user.node).type == "Result"; });
}

std::optional<Graph::User> Rewriter::only_user(PortRef ref) const {
  if (users(ref).size() != 1 || is_output(ref)) return std::nullopt;
  return users(ref).front();
}

PortRef Rewriter::add(Node node) {
  const NodeId id = graph_.add(std::move(node));
  make_room(id);
  const auto& inputs = graph_.at(id).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    users_[index_of(inputs[i].node)][index_of(inputs[i].port)].push_back({id, static_cast<std::int32_t>(i)});
  }
  return {id, 0};
}

PortRef Rewriter::add_const(const std::string& name, Tensor value) {
  const NodeId id = graph_.add_const(name, std::move(value));
  make_room(id);
  return {id, 0};
}

// Ids of nodes that died before this Rewriter came may lie between its last one and the new one.
void Rewriter::make_room(NodeId id) {
  users_.resize(index_of(id) + 1);
  is_removed_.resize(users_.size(), false);
  users_.back().resize(graph_.at(id).outputs.size());
}

void Rewriter::forget(PortRef source, NodeId user, std::size_t index) {
  auto& list = users_[index_of(source.node)][index_of(source.port)];
  std::erase_if(list, [&](const Graph::User& u) { return u.node == user && index_of(u.input) == index; });
}

void Rewriter::set_input(NodeId id, std::size_t index, PortRef source) {
  forget(graph_.at(id).inputs.at(index), id, index);
  graph_.set_input(id, index, source);
  users_[index_of(source.node)][index_of(source.port)].push_back({id, static_cast<std::int32_t>(index)});
}

std::int32_t Rewriter::append_input(NodeId id, PortRef source) {
  const std::size_t index = graph_.at(id).inputs.size();
  graph_.set_input(id, index, source);
  users_[index_of(source.node)][index_of(source.port)].push_back({id, static_cast<std::int32_t>(index)});
  return static_cast<std::int32_t>(index);
}

void Rewriter::truncate_inputs(NodeId id, std::size_t count) {
  auto& inputs = graph_.at(id).inputs;
  while (inputs.size() > count) {
    forget(inputs.back(), id, inputs.size() - 1);
    inputs.pop_back();
  }
}

void Rewriter::move_users(PortRef from, PortRef to) {
  const std::vector<Graph::User> readers = users(from);
  for (const Graph::User& user : readers) set_input(user.node, index_of(user.input), to);
}

void Rewriter::remove_if_unread(NodeId id) {
  const auto& ports = users_[index_of(id)];
  if (std::any_of(ports.begin(), ports.end(), [](const auto& list) { return !list.empty(); })) return;
  if (graph_.at(id).type == "Parameter") return;
  truncate_inputs(id, 0);
  // An epilogue points at inputs; without them verify would object to the node until remove_dead takes it.
  graph_.at(id).epilogue = {};
  is_removed_[index_of(id)] = true;
}

void Rewriter::replace(PortRef from, PortRef to) {
  HEADRACE_ASSERT(!is_output(to), "a network output would change its value");
  auto& old_names = graph_.at(from.node).outputs.at(index_of(from.port)).names;
  graph_.at(to.node).outputs.at(index_of(to.port)).names = std::move(old_names);
  old_names.clear();
  // The heir may read the tensor that it takes over (x -> x * 2): that edge stays for the caller to change.
  const std::vector<Graph::User> readers = users(from);
  for (const Graph::User& user : readers) {
    if (user.node != to.node) set_input(user.node, index_of(user.input), to);
  }
  remove_if_unread(from.node);
}

void Rewriter::take_over(PortRef from, PortRef to) {
  const Node& replaced = graph_.at(from.node);
  Node& heir = graph_.at(to.node);
  std::vector<std::string> layers;
  if (heir.name != replaced.name) layers.push_back(replaced.name);
  append_new(layers, replaced.fused_names);
  append_new(heir.fused_names, layers);
  replace(from, to);
}

bool Rewriter::bypass(PortRef from, PortRef to) {
  const std::string& type = graph_.at(to).type;
  const bool from_is_output = is_output(from);
  if (from_is_output && (is_output(to) || type == "Parameter" || type == "Const")) return false;
  auto& old_names = graph_.at(from.node).outputs.at(index_of(from.port)).names;
  auto& names = graph_.at(to.node).outputs.at(index_of(to.port)).names;
  std::vector<std::string> first = from_is_output ? old_names : names;
  append_new(first, from_is_output ? names : old_names);
  // A Parameter answers to its own names only: --input-shape and inputs are looked up by them.
  if (type != "Parameter") names = std::move(first);
  old_names.clear();
  move_users(from, to);
  remove_if_unread(from.node);
  return true;
}

void rewrite_each(Graph& graph, void (*edit)(Rewriter& rewriter, NodeId id)) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (!rewriter.is_removed(id)) edit(rewriter, id);
  }
  graph.remove_dead();
}

}  // namespace headrace
