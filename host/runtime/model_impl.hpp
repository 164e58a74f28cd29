// SPDX-License-Identifier: Apache-2.0
// What a Model holds: the file's graph and the user's wishes about its inputs and outputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

// What the user set for one input or output.
struct PortWishes {
  std::optional<Shape> shape;  // inputs only; in the user's order
  std::optional<ElementType> type;
  bool is_nhwc = false;
};

struct Model::Impl {
  std::shared_ptr<const Graph> graph;
  std::vector<PortWishes> inputs;   // one per Parameter
  std::vector<PortWishes> outputs;  // one per Result
};

// A model of the graph, without wishes.
Model make_model(Graph graph);

// The ports of the model as the user sees them: names, types and orders as wished. Shapes of outputs are those that
// follow from the inputs' shapes, or of unknown rank.
std::vector<PortInfo> input_ports(const Model::Impl& model);
std::vector<PortInfo> output_ports(const Model::Impl& model);

// Finds a port by any of its names, "x:0" for "x" included; "" names the only one. `also` holds one more name per port
// (layer names). Throws kInvalidArgument listing the names; `what` is "input" or "output".
std::size_t find_port(std::span<const PortInfo> ports, std::span<const std::string> also, std::string_view name,
                      std::string_view what);

// The same; nothing where there is none.
std::optional<std::size_t> find_port_or_nothing(std::span<const PortInfo> ports, std::span<const std::string> also,
                                                std::string_view name);

// Layer names of the Parameters; layer names of what the Results read.
std::vector<std::string> input_layers(const Graph& graph);
std::vector<std::string> output_layers(const Graph& graph);

// The input shapes as the file and the user fix them. Throws kInvalidArgument where one stays open.
std::vector<Shape> wished_shapes(const Model::Impl& model);

// Returns a copy of the graph in which Parameters take and Results give what the user wished, by Convert and Transpose
// nodes. Parameters keep their layer names, and with a wished shape have it declared.
Graph make_wished_graph(const Model::Impl& model);

}  // namespace headrace
