// SPDX-License-Identifier: Apache-2.0
#include "passes/quantizable_layers.hpp"

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

bool has_quantizable_type(const Node& node) {
  return node.type == "Convolution" || node.type == "GroupConvolution" || node.type == "MatMul";
}

// The nodes whose results depend on what the network is given, beyond its shapes.
std::vector<bool> find_data_nodes(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<bool> is_data;
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    const auto index = static_cast<std::size_t>(id.value);
    is_data.resize(std::max(is_data.size(), index + 1), false);
    if (node.type == "ShapeOf") continue;
    is_data[index] =
        node.type == "Parameter" || std::any_of(node.inputs.begin(), node.inputs.end(), [&](const PortRef& input) {
          return is_data[static_cast<std::size_t>(input.node.value)];
        });
  }
  return is_data;
}

bool is_finite(const Tensor& tensor) {
  const Tensor aligned = tensor.aligned_copy();
  const auto values = aligned.values<float>();
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// Empty where the layer can be quantized.
std::string reason_to_keep(const Graph& graph, const Node& node, bool has_data, const IgnoredLayers& ignored) {
  if (ignored.names.count(node.name) != 0) return "it is ignored by name";
  if (ignored.types.count(node.type) != 0) return "its type is ignored";
  if (node.outputs.at(0).type != ElementType::f32) return "it does not compute in f32";
  if (!has_data) return "its data follow from shapes and constants";
  const Tensor* weights = const_f32(graph, node.inputs.at(1));
  if (weights == nullptr) return "its weights are no f32 constant";
  if (weights->count() == 0 || output_channel_axes(graph, node).empty()) return "its weights are no matrix";
  if (!is_finite(*weights)) return "its weights are not all finite";
  return "";
}

void check_ignored(const Graph& graph, const IgnoredLayers& ignored) {
  std::set<std::string> names;
  std::set<std::string> types;
  for (const NodeId id : graph.nodes()) {
    names.insert(graph.at(id).name);
    types.insert(graph.at(id).type);
  }
  for (const std::string& name : ignored.names) {
    if (names.count(name) == 0) {
      fail(ErrorCode::kInvalidArgument, "--ignore: the optimized network has no layer " + quote(name));
    }
  }
  for (const std::string& type : ignored.types) {
    if (types.count(type) == 0) {
      fail(ErrorCode::kInvalidArgument, "--ignore-type: the network has no layer of type " + quote(type));
    }
  }
}

}  // namespace

QuantizableLayers find_quantizable(const Graph& graph, const IgnoredLayers& ignored) {
  check_ignored(graph, ignored);
  QuantizableLayers found;
  const std::vector<NodeId> order = graph.topological_order();
  const std::vector<bool> is_data = find_data_nodes(graph, order);
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    if (!has_quantizable_type(node)) continue;
    const PortRef data = node.inputs.at(0);
    std::string reason = reason_to_keep(graph, node, is_data[static_cast<std::size_t>(data.node.value)], ignored);
    if (reason.empty()) {
      found.layers.push_back({id, data});
    } else {
      found.kept.push_back({id, std::move(reason)});
    }
  }
  return found;
}

}  // namespace headrace
