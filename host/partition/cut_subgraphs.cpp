// SPDX-License-Identifier: Apache-2.0
// Cutting by rank: a node's level is the largest number of device changes on any path to it. Nodes of one device and
// one level form a group. An edge inside a device never lowers the level and an edge between devices raises it, so
// the groups cannot form a cycle, whatever the graph looks like.
#include <algorithm>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "partition/is_computed.hpp"
#include "partition/partition.hpp"

namespace headrace {
namespace {

using Group = std::pair<std::int64_t, std::size_t>;  // level, device: in this order groups can run

struct Leveled {
  std::vector<NodeId> order;      // computed nodes, topological
  std::map<NodeId, Group> group;  // of each
};

Leveled assign_levels(const Graph& graph, const std::map<NodeId, std::size_t>& device_of) {
  Leveled result;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    if (!is_computed(node)) continue;
    const std::size_t device = device_of.at(id);
    std::int64_t level = 0;
    for (const PortRef& input : node.inputs) {
      const auto producer = result.group.find(input.node);
      if (producer == result.group.end()) continue;  // a constant or a Parameter binds nothing together
      const auto [from_level, from_device] = producer->second;
      level = std::max(level, from_device == device ? from_level : from_level + 1);
    }
    result.order.push_back(id);
    result.group[id] = {level, device};
  }
  return result;
}

// Levels start as early as they can, which may leave a group that could as well run with the next one of its device
// (a branch that waits for another device's result at its end). Such groups move there whole.
std::map<Group, Group> merge_late(const Graph& graph, const Leveled& leveled) {
  std::map<Group, std::set<Group>> readers;  // groups that read from a group, itself excepted
  for (const NodeId id : leveled.order) {
    const Group& group = leveled.group.at(id);
    readers.try_emplace(group);
    for (const PortRef& input : graph.at(id).inputs) {
      const auto producer = leveled.group.find(input.node);
      if (producer != leveled.group.end() && producer->second != group) readers[producer->second].insert(group);
    }
  }
  std::map<Group, Group> target;
  std::map<std::size_t, Group> next_of_device;
  for (auto entry = readers.rbegin(); entry != readers.rend(); ++entry) {
    const std::size_t device = entry->first.second;
    target[entry->first] = entry->first;
    const auto next = next_of_device.find(device);
    if (next != next_of_device.end()) {
      const Group wanted = target.at(next->second);
      const bool can_move = std::all_of(entry->second.begin(), entry->second.end(), [&](const Group& reader) {
        const Group& placed = target.at(reader);
        return placed.second == device ? placed.first >= wanted.first : placed.first > wanted.first;
      });
      if (can_move) target[entry->first] = wanted;
    }
    next_of_device[device] = entry->first;
  }
  return target;
}

void add_boundary(const Graph& graph, const std::map<NodeId, std::size_t>& index_of, std::vector<Subgraph>& subgraphs) {
  const UserMap users(graph);
  for (std::size_t index = 0; index < subgraphs.size(); ++index) {
    Subgraph& subgraph = subgraphs[index];
    std::set<PortRef> seen;
    for (const NodeId id : subgraph.nodes) {
      const Node& node = graph.at(id);
      for (const PortRef& input : node.inputs) {
        const auto producer = index_of.find(input.node);
        const bool is_inside = producer != index_of.end() && producer->second == index;
        if (is_inside || is_const(graph, input)) continue;
        if (seen.insert(input).second) subgraph.inputs.push_back(input);
      }
      for (std::size_t port = 0; port < node.outputs.size(); ++port) {
        const PortRef output{id, static_cast<std::int32_t>(port)};
        const auto& readers = users.of(output);
        const bool is_read_outside = std::any_of(readers.begin(), readers.end(), [&](const Graph::User& user) {
          const auto reader = index_of.find(user.node);
          return reader == index_of.end() || reader->second != index;
        });
        if (is_read_outside) subgraph.outputs.push_back(output);
      }
    }
  }
}

}  // namespace

std::vector<Subgraph> cut_subgraphs(const Graph& graph, const std::map<NodeId, std::size_t>& device_of) {
  const Leveled leveled = assign_levels(graph, device_of);
  const std::map<Group, Group> target = merge_late(graph, leveled);
  std::set<Group> kept;
  for (const auto& [group, merged] : target) kept.insert(merged);
  std::map<Group, std::size_t> position;
  for (const Group& group : kept) position.emplace(group, position.size());
  std::vector<Subgraph> subgraphs(kept.size());
  std::map<NodeId, std::size_t> index_of;
  for (const NodeId id : leveled.order) {
    const Group& group = target.at(leveled.group.at(id));
    const std::size_t index = position.at(group);
    subgraphs[index].device = group.second;
    subgraphs[index].nodes.push_back(id);
    index_of[id] = index;
  }
  add_boundary(graph, index_of, subgraphs);
  return subgraphs;
}

}  // namespace headrace
