// SPDX-License-Identifier: Apache-2.0
// A model compiled for one list of devices and one set of input shapes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "graph/graph.hpp"
#include "headrace/headrace.hpp"
#include "partition/partition.hpp"
#include "plan/plan.hpp"

namespace headrace {

// The devices that one request runs on, in priority order.
struct DeviceList {
  std::vector<std::shared_ptr<const Device>> devices;
  std::vector<std::string> names;  // as the user wrote them
  std::size_t streams = 1;         // requests that run at the same time; see Streams
};

// A graph with its place on the devices, before anything is lowered.
struct PlacedGraph {
  Graph graph;  // after all passes
  Partition partition;
};

// Called with "read" and the name of every pass.
using GraphObserver = std::function<void(std::string_view stage, const Graph& graph)>;

// What a network is made for, in the order of the Parameters: shapes, and values of the inputs on whose values the
// shapes of other tensors depend (nothing for the others). Equal keys make equal networks.
struct NetworkKey {
  std::vector<Shape> shapes;
  std::vector<std::optional<Tensor>> values;  // shorter than shapes: none for the rest

  friend bool operator==(const NetworkKey& a, const NetworkKey& b);
};

// Makes the readers of an input with a value read a constant.
Graph bind_values(Graph graph, const NetworkKey& key);

// Infers shapes and runs the passes that the devices call for. `graph` comes from make_wished_graph; shapes in the
// order of the Parameters.
Graph prepare_graph(Graph graph, std::span<const Shape> input_shapes, std::span<const PartitionDevice> devices,
                    const GraphObserver& observe = {});

// The same, then asks the devices. Throws kUnsupported for a layer that no device runs.
PlacedGraph place_graph(Graph graph, std::span<const Shape> input_shapes, std::span<const PartitionDevice> devices);

std::vector<PartitionDevice> partition_devices(const DeviceList& list);

// The layer's type in the file's own words.
std::string layer_type(const Node& node);

// A tensor at the border of subgraphs, in host memory while a request runs.
struct BoundaryTensor {
  ElementType type = ElementType::f32;
  Shape shape;
};

struct LoadedSubgraph {
  std::size_t device = 0;           // index into the device list
  std::vector<std::size_t> inputs;  // boundary tensors
  std::vector<std::size_t> outputs;
  std::shared_ptr<const DevicePlan> plan;
  std::unique_ptr<Executable> executable;
  PlanStats stats;
};

// Where a network output comes from: a boundary tensor or a constant.
struct NetworkOutput {
  std::size_t tensor = 0;
  std::optional<Tensor> constant;
  BoundaryTensor info;
};

// Immutable after load_network; shared by requests.
struct Network {
  DeviceList devices;
  std::vector<BoundaryTensor> tensors;    // the first ones are the network's inputs
  std::vector<LoadedSubgraph> subgraphs;  // in running order
  std::vector<NetworkOutput> outputs;
  std::vector<LayerPlacement> placements;
};

// Plans every subgraph for what `planned` says of the devices, which the graph was placed with. `original` is the
// file's graph, for the names of layers that passes folded away. What it returns cannot run before load_network.
std::shared_ptr<Network> plan_network(const PlacedGraph& placed, const DeviceList& devices,
                                      std::span<const PartitionDevice> planned, const Graph& original,
                                      WeightsCache& weights);

// Loads every subgraph on its device. Throws what Device::load throws.
void load_network(Network& network, const LoadOptions& options);

// How many programs load_network would have to compile.
std::size_t count_unbuilt(const Network& network);

// Rows for `headrace query`: every node of the placed graph in running order with what is fused into it, then the
// original layers whose values are computed while compiling. A layer placed on device `nowhere` has an empty device.
std::vector<LayerPlacement> list_placements(const PlacedGraph& placed, const Graph& original,
                                            std::optional<std::size_t> nowhere = std::nullopt);

}  // namespace headrace
