// SPDX-License-Identifier: Apache-2.0
// Which tensors of a file's network survive the passes, and a model that gives them as outputs.
#include <charconv>
#include <map>

#include "partition/is_computed.hpp"
#include "runtime/core_impl.hpp"
#include "runtime/cut_model.hpp"
#include "runtime/model_impl.hpp"
#include "runtime/network.hpp"

namespace headrace {
namespace {

// A tensor name that no file has: passes move names to the tensor that holds the same values, so a mark tells after all
// passes which of the file's tensors a tensor is.
constexpr std::string_view kMark = "\n#";

std::string mark_of(PortRef ref) {
  return std::string(kMark) + std::to_string(ref.node.value) + ":" + std::to_string(ref.port);
}

std::optional<PortRef> parse_mark(std::string_view name) {
  if (!name.starts_with(kMark)) return std::nullopt;
  name.remove_prefix(kMark.size());
  const std::size_t colon = name.find(':');
  PortRef ref;
  std::from_chars(name.data(), name.data() + colon, ref.node.value);
  std::from_chars(name.data() + colon + 1, name.data() + name.size(), ref.port);
  return ref;
}

Graph make_marked_graph(const Model::Impl& model) {
  Graph graph = make_wished_graph(model);
  for (const NodeId id : model.graph->nodes()) {
    if (!is_computed(model.graph->at(id))) continue;
    auto& outputs = graph.at(id).outputs;
    for (std::size_t port = 0; port < outputs.size(); ++port) {
      outputs[port].names.push_back(mark_of({id, static_cast<std::int32_t>(port)}));
    }
  }
  return graph;
}

// The last one, where several tensors of the file turned out to be the same: it is nearest to what follows.
std::optional<PortRef> find_original(const OutputInfo& info) {
  std::optional<PortRef> found;
  for (const std::string& name : info.names) {
    if (const auto ref = parse_mark(name); ref && (!found || *found < *ref)) found = ref;
  }
  return found;
}

InnerTensor tensor_of_file(const Graph& original, PortRef ref) {
  const Node& source = original.at(ref.node);
  const OutputInfo& own = source.outputs.at(static_cast<std::size_t>(ref.port));
  InnerTensor tensor;
  tensor.layer = source.name;
  tensor.type = layer_type(source);
  const std::string suffix = source.outputs.size() == 1 ? "" : ":" + std::to_string(ref.port);
  tensor.name = own.names.empty() ? source.name + suffix : own.names.front();
  tensor.element_type = own.type;
  tensor.node = ref.node.value;
  tensor.port = ref.port;
  return tensor;
}

InnerTensor make_inner_tensor(const Graph& original, PortRef ref, const PlacedGraph& placed, const Node& node,
                              const OutputInfo& info) {
  const Node& source = original.at(ref.node);
  InnerTensor tensor = tensor_of_file(original, ref);
  if (node.name != source.name) tensor.fused.push_back(node.name);
  for (const std::string& fused : node.fused_names) {
    if (fused != source.name && fused != node.name) tensor.fused.push_back(fused);
  }
  tensor.device = placed.partition.device_names.at(placed.partition.placements.at(node.id).device);
  tensor.element_type = info.type;
  tensor.shape = info.shape;
  return tensor;
}

// Behind a layer whose output shape only a run tells; nothing is known of how these are computed.
void add_unknown_tensors(const Graph& original, const Graph& known, std::vector<InnerTensor>& tensors) {
  for (const NodeId id : original.topological_order()) {
    const Node& node = original.at(id);
    if (!is_computed(node) || known.contains(id)) continue;
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      tensors.push_back(tensor_of_file(original, {id, static_cast<std::int32_t>(port)}));
    }
  }
}

}  // namespace

std::vector<InnerTensor> Core::inner_tensors(const Model& model, std::string_view devices) const {
  const std::vector<PartitionDevice> list = partition_devices(impl_->devices.resolve(devices).front());
  const std::vector<Shape> shapes = wished_shapes(model.impl());
  const Graph known = known_part(make_marked_graph(model.impl()), shapes, true);
  const PlacedGraph placed = place_graph(known, shapes, list);
  std::vector<InnerTensor> tensors;
  for (const Subgraph& subgraph : placed.partition.subgraphs) {
    for (const NodeId id : subgraph.nodes) {
      const Node& node = placed.graph.at(id);
      for (const OutputInfo& info : node.outputs) {
        const auto ref = find_original(info);
        if (ref) tensors.push_back(make_inner_tensor(*model.impl().graph, *ref, placed, node, info));
      }
    }
  }
  add_unknown_tensors(*model.impl().graph, known, tensors);
  return tensors;
}

Model Model::with_outputs(const std::vector<InnerTensor>& tensors) const {
  auto graph = std::make_shared<Graph>(*impl_->graph);
  auto changed = std::make_shared<Impl>(*impl_);
  for (const InnerTensor& tensor : tensors) {
    const PortRef ref{NodeId{tensor.node}, tensor.port};
    const bool is_known = graph->contains(ref.node) && ref.port >= 0 &&
                          static_cast<std::size_t>(ref.port) < graph->at(ref.node).outputs.size();
    check(is_known, ErrorCode::kInvalidArgument, "tensor '" + tensor.name + "' is none of this model");
    Node result;
    result.name = tensor.name + "/inner_result";
    result.type = "Result";
    result.inputs = {ref};
    graph->add(std::move(result));
    changed->outputs.emplace_back();
  }
  changed->graph = std::move(graph);
  return Model(std::move(changed));
}

}  // namespace headrace
