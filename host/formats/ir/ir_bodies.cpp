// SPDX-License-Identifier: Apache-2.0
#include "formats/ir/ir_bodies.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace headrace::detail {
namespace {

constexpr std::int64_t kNoPort = -1;  // the port map's word for "inside only"

// The index of the port with this id.
std::size_t port_index(const std::vector<IrPort>& ports, std::int64_t id, const char* kind) {
  const auto found = std::find_if(ports.begin(), ports.end(), [id](const IrPort& port) { return port.id == id; });
  if (found == ports.end()) {
    fail(ErrorCode::kBadModel,
         "the port map names the " + std::string(kind) + " port " + std::to_string(id) + ", which the layer lacks");
  }
  return static_cast<std::size_t>(found - ports.begin());
}

// The place of a body's layer among its Parameters or Results.
std::size_t place_of(const std::vector<NodeId>& nodes, const std::map<std::int64_t, NodeId>& ids, std::int64_t layer,
                     const char* kind) {
  const auto id = ids.find(layer);
  const auto found = id == ids.end() ? nodes.end() : std::find(nodes.begin(), nodes.end(), id->second);
  if (found == nodes.end()) {
    fail(ErrorCode::kBadModel,
         "the port map names the body's layer " + std::to_string(layer) + ", which is no " + kind);
  }
  return static_cast<std::size_t>(found - nodes.begin());
}

std::optional<BodySlice> parse_slice(const IrMapping& mapping) {
  if (mapping.find("axis") == mapping.end()) return std::nullopt;
  BodySlice slice;
  slice.axis = parse_int(mapping, "axis");
  slice.start = parse_int(mapping, "start", slice.start);
  slice.end = parse_int(mapping, "end", slice.end);
  slice.stride = parse_int(mapping, "stride", slice.stride);
  slice.part_size = parse_int(mapping, "part_size", slice.part_size);
  return slice;
}

class Joiner {
 public:
  Joiner(const IrLayer& layer, Graph graph, const std::map<std::int64_t, NodeId>& ids)
      : layer_(layer), ids_(ids), graph_(std::make_shared<const Graph>(std::move(graph))) {
    joined_.graph = graph_;
  }

  Body join(const IrBody& body) {
    for (const IrMapping& mapping : body.inputs) add_input(mapping);
    for (const IrMapping& mapping : body.outputs) add_output(mapping);
    for (const IrMapping& edge : body.back_edges) {
      joined_.back_edges.push_back({result(parse_int(edge, "from-layer")), parameter(parse_int(edge, "to-layer"))});
    }
    check_parameters();
    return std::move(joined_);
  }

 private:
  std::size_t parameter(std::int64_t layer) const { return place_of(graph_->parameters(), ids_, layer, "Parameter"); }
  std::size_t result(std::int64_t layer) const { return place_of(graph_->results(), ids_, layer, "Result"); }

  void add_input(const IrMapping& mapping) {
    const std::size_t place = parameter(parse_int(mapping, "internal_layer_id"));
    const std::int64_t port = parse_int(mapping, "external_port_id");
    if (port == kNoPort) {
      joined_.iteration_parameter = place;
    } else {
      joined_.inputs.push_back({port_index(layer_.inputs, port, "input"), place, parse_slice(mapping)});
    }
  }

  void add_output(const IrMapping& mapping) {
    const std::size_t place = result(parse_int(mapping, "internal_layer_id"));
    const std::int64_t port = parse_int(mapping, "external_port_id");
    if (parse_string(mapping, "purpose", "") == "execution_condition") joined_.condition_result = place;
    if (port == kNoPort) return;
    joined_.outputs.push_back({port_index(layer_.outputs, port, "output"), place, parse_slice(mapping)});
  }

  // Each Parameter is fed once, each output of the layer as well.
  void check_parameters() const {
    std::vector<int> feeds(graph_->parameters().size(), 0);
    for (const BodyInput& input : joined_.inputs) ++feeds[input.parameter];
    if (joined_.iteration_parameter) ++feeds[*joined_.iteration_parameter];
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      if (feeds[i] == 1) continue;
      fail(ErrorCode::kBadModel, "the body's input '" + graph_->at(graph_->parameters()[i]).name + "' is fed " +
                                     std::to_string(feeds[i]) + " times, expected once");
    }
    std::vector<int> gives(layer_.outputs.size(), 0);
    for (const BodyOutput& output : joined_.outputs) ++gives[output.output];
    if (std::all_of(gives.begin(), gives.end(), [](int count) { return count == 1; })) return;
    fail(ErrorCode::kBadModel, "the port map does not give each output of the layer once");
  }

  const IrLayer& layer_;
  const std::map<std::int64_t, NodeId>& ids_;
  std::shared_ptr<const Graph> graph_;
  Body joined_;
};

}  // namespace

Body join_body(const IrLayer& layer, const IrBody& body, Graph graph, const std::map<std::int64_t, NodeId>& ids) {
  return Joiner(layer, std::move(graph), ids).join(body);
}

}  // namespace headrace::detail
