// SPDX-License-Identifier: Apache-2.0
// Decides on which device every node runs and cuts the graph into subgraphs that each run on one device.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/caps.hpp"
#include "graph/graph.hpp"

namespace headrace {

// A device as the partitioner sees it. Devices are given in priority order.
struct PartitionDevice {
  std::string name;  // as the user wrote it, for messages
  KernelCaps caps;
  bool is_cpu_fallback = false;  // runs every operator through its host form
};

struct PartitionOptions {
  // No node may run on the CPU fallback, even where the list holds it.
  bool strict = false;
  // A subgraph of another device that lies between subgraphs of the CPU fallback and has at most this many flops
  // moves to the fallback: two transfers cost more than it saves. 0: never.
  std::int64_t island_max_flops = 0;
};

// Why an earlier device does not run a node.
struct Refusal {
  std::size_t device = 0;  // index into the device list
  std::string reason;
};

struct Placement {
  std::size_t device = 0;
  std::size_t subgraph = 0;
  std::vector<Refusal> refusals;  // of every earlier device, in priority order
};

// Nodes of one device that run together. Constants belong to no subgraph: every user has its own copy.
struct Subgraph {
  std::size_t device = 0;
  std::vector<NodeId> nodes;     // topological order; without Const, Parameter and Result
  std::vector<PortRef> inputs;   // tensors from Parameters and other subgraphs, in order of first use, each once
  std::vector<PortRef> outputs;  // tensors that other subgraphs or Results read, in node order, each once
};

// Results that read a Parameter or a Const directly need no subgraph; whoever runs the partition copies these.
struct Partition {
  std::vector<std::string> device_names;
  std::map<NodeId, Placement> placements;  // of every node but Const, Parameter and Result
  std::vector<Subgraph> subgraphs;         // in an order in which they can run
};

// Asks every device in priority order and cuts the graph. The result depends on its arguments only.
// The graph's shapes must be resolved.
// Throws kUnsupported where no device runs a node, naming the first such layer, its type, every device's reason and
// how many layers are refused.
Partition partition(const Graph& graph, std::span<const PartitionDevice> devices, const PartitionOptions& options = {});

// Cuts a graph whose nodes are already placed (by NodeId, every node but Const, Parameter and Result) into subgraphs
// whose dependencies have no cycle, in an order in which they can run. Complexity: O(edges * log(nodes)).
std::vector<Subgraph> cut_subgraphs(const Graph& graph, const std::map<NodeId, std::size_t>& device_of);

}  // namespace headrace
