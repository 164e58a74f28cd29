// SPDX-License-Identifier: Apache-2.0
// TensorIterator: in old IR a body's inputs and outputs are ports of its layers, not layers of their own.
#include "core/error.hpp"
#include "formats/ir/ir_bodies.hpp"
#include "formats/old_ir/old_ir_graph.hpp"

namespace headrace::detail {
namespace {

// Gives the ports that a port map and back edges name ids of nodes, so that today's rules for joining a body hold.
class Ports {
 public:
  explicit Ports(OldIrGraph& body) : body_(body) {}

  std::int64_t parameter(const OldIrPortId& port) {
    const auto [entry, is_new] = parameters_.emplace(port, next_);
    if (is_new) ids_[next_++] = body_.add_parameter(port);
    return entry->second;
  }
  // One that the port map has named; a back edge cannot make another.
  std::int64_t known_parameter(const OldIrPortId& port) const {
    const auto found = parameters_.find(port);
    if (found == parameters_.end()) {
      fail(ErrorCode::kBadModel, "a back edge ends at port " + std::to_string(port.second) + " of layer " +
                                     std::to_string(port.first) + ", which is no input of the body");
    }
    return found->second;
  }
  std::int64_t result(const OldIrPortId& port) {
    const auto [entry, is_new] = results_.emplace(port, next_);
    if (is_new) ids_[next_++] = body_.add_result(port);
    return entry->second;
  }
  const std::map<std::int64_t, NodeId>& ids() const { return ids_; }

 private:
  OldIrGraph& body_;
  std::int64_t next_ = 0;
  std::map<OldIrPortId, std::int64_t> parameters_, results_;
  std::map<std::int64_t, NodeId> ids_;
};

OldIrPortId inner_port(const RawAttributes& mapping) {
  return {parse_int(mapping, "internal_layer_id"), parse_int(mapping, "internal_port_id")};
}

IrLayer ports_of(const OldIrLayer& layer) {
  IrLayer ports;
  ports.name = layer.name;
  ports.type = layer.type;
  for (const OldIrPort& port : layer.inputs) ports.inputs.emplace_back().id = port.id;
  for (const OldIrPort& port : layer.outputs) ports.outputs.emplace_back().id = port.id;
  return ports;
}

}  // namespace

std::vector<PortRef> add_tensor_iterator(ImportBuilder& builder, const OldIrLayer& layer, const WeightsBlob& weights,
                                         const std::vector<PortRef>& inputs) {
  if (lowercase(layer.type) != "tensoriterator") fail(ErrorCode::kUnsupported, "has a body");
  const OldIrBody& body = layer.bodies.at(0);
  Graph graph;
  graph.name = layer.name;
  OldIrGraph reader(body.graph, weights, graph, builder);
  Ports ports(reader);
  IrBody joined;
  for (const RawAttributes& mapping : body.inputs) {
    IrMapping& input = joined.inputs.emplace_back(mapping);
    input["internal_layer_id"] = std::to_string(ports.parameter(inner_port(mapping)));
  }
  reader.read_layers();
  for (const RawAttributes& mapping : body.outputs) {
    IrMapping& output = joined.outputs.emplace_back(mapping);
    output["internal_layer_id"] = std::to_string(ports.result(inner_port(mapping)));
  }
  for (const OldIrEdge& edge : body.back_edges) {
    const OldIrPortId to = {edge.to_layer, edge.to_port};
    joined.back_edges.push_back({{"from-layer", std::to_string(ports.result({edge.from_layer, edge.from_port}))},
                                 {"to-layer", std::to_string(ports.known_parameter(to))}});
  }
  graph.remove_dead();
  reader.store_types();
  std::vector<Body> bodies = {join_body(ports_of(layer), joined, std::move(graph), ports.ids())};
  const PortRef first = builder.add_with_bodies("TensorIterator", 1, inputs, std::move(bodies), layer.outputs.size());
  std::vector<PortRef> outputs;
  for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
    outputs.push_back({first.node, static_cast<std::int32_t>(i)});
  }
  return outputs;
}

}  // namespace headrace::detail
