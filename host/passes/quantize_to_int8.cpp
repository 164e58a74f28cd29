// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize_to_int8.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "ops/conv_int8.hpp"
#include "passes/byte_grid.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// Whether every window holds an element of the image, so that each result is one of them.
bool is_choosing_pool(const Node& node) {
  if (node.type != "MaxPool" || node.attributes.get_string("rounding_type") != "floor") return false;
  const auto& kernel = node.attributes.get_ints("kernel");
  const auto& begin = node.attributes.get_ints("pads_begin");
  const auto& end = node.attributes.get_ints("pads_end");
  for (const std::int64_t dilation : node.attributes.get_ints("dilations")) {
    if (dilation != 1) return false;
  }
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (i >= begin.size() || i >= end.size() || begin[i] >= kernel[i] || end[i] >= kernel[i]) return false;
  }
  return true;
}

// Whether output 0 holds elements of input 0 only.
bool is_choosing(const Node& node) {
  if (!node.epilogue.is_empty()) return false;
  return node.type == "Reshape" || node.type == "Squeeze" || node.type == "Unsqueeze" || is_choosing_pool(node);
}

// Data on the grid of a FakeQuantize: what has to be turned into levels.
struct GridData {
  PortRef source;  // the FakeQuantize's own input where it is read directly
  NodeId fake_quantize;
  bool is_direct = false;
  LevelGrid grid;
};

std::optional<GridData> find_grid_data(const Graph& graph, PortRef ref) {
  PortRef at = ref;
  while (at.port == 0 && is_choosing(graph.at(at))) at = graph.at(at).inputs.at(0);
  const auto grid = level_grid_of(graph, graph.at(at));
  if (!grid) return std::nullopt;
  const bool is_direct = at == ref;
  return GridData{is_direct ? graph.at(at).inputs[0] : ref, at.node, is_direct, *grid};
}

// How the node's weights are walked by output channels, where the quantized operators have its form.
std::optional<ChannelWalk> channel_walk(const Graph& graph, const Node& node) {
  const Tensor* weights = node.inputs.size() >= 2 ? const_f32(graph, node.inputs[1]) : nullptr;
  if (weights == nullptr || weights->count() == 0) return std::nullopt;
  const Shape& shape = weights->shape();
  if (node.type == "Convolution" && (shape.size() == 3 || shape.size() == 4)) {
    const std::int64_t depth = weights->count() / shape[0];
    return ChannelWalk{shape[0], depth, depth, 1};
  }
  if (node.type != "MatMul" || shape.size() != 2 || node.attributes.get_bool("transpose_a")) return std::nullopt;
  const bool is_transposed = node.attributes.get_bool("transpose_b");
  return is_transposed ? ChannelWalk{shape[0], shape[1], shape[1], 1} : ChannelWalk{shape[1], shape[0], 1, shape[1]};
}

class Quantizer {
 public:
  explicit Quantizer(Graph& graph) : rewriter_(graph) {}

  void visit(NodeId id) {
    const Graph& graph = rewriter_.graph();
    const auto walk = channel_walk(graph, graph.at(id));
    if (!walk || walk->count > kMaxInt8Depth || graph.at(id).outputs.at(0).type != ElementType::f32) return;
    const auto data = find_grid_data(graph, graph.at(id).inputs[0]);
    if (!data) return;
    auto weights = find_byte_weights(*const_f32(graph, graph.at(id).inputs[1]), *walk);
    if (!weights) return;
    std::vector<double> scales = weights->scales;
    for (double& scale : scales) scale *= data->grid.scale;
    for (const double scale : scales) {
      if (!std::isnormal(static_cast<float>(scale))) return;  // it would lose digits
    }
    replace(id, *data, std::move(weights->values), scales);
  }

  // A FakeQuantize that nothing reads any more lives on in its levels.
  void hand_over_names() {
    for (const auto& [fake_quantize, levels] : direct_) {
      if (!rewriter_.users({fake_quantize, 0}).empty()) continue;
      const Node& gone = rewriter_.graph().at(fake_quantize);
      Node& heir = rewriter_.at(levels);
      heir.name = gone.name;
      heir.fused_names = gone.fused_names;
    }
  }

 private:
  PortRef levels_of(const GridData& data) {
    const auto key = std::make_pair(data.source, data.grid);
    const auto found = levels_.find(key);
    if (found != levels_.end()) return found->second;
    const Graph& graph = rewriter_.graph();
    const std::string name = data.is_direct ? graph.at(data.fake_quantize).name : graph.at(data.source).name;
    const RawAttributes raw = {{"levels", std::to_string(data.grid.levels)},
                               {"in_low", to_string(AttributeValue(static_cast<double>(data.grid.in_low)))},
                               {"in_high", to_string(AttributeValue(static_cast<double>(data.grid.in_high)))}};
    const PortRef levels = add_op(rewriter_, "QuantizeLevels", name + "/levels", {data.source}, raw);
    rewriter_.at(levels.node).source_type = "FakeQuantize";
    if (data.is_direct) direct_[data.fake_quantize] = levels.node;
    return levels_[key] = levels;
  }

  void replace(NodeId id, const GridData& data, Tensor values, const std::vector<double>& scales) {
    const Node old = rewriter_.graph().at(id);
    const PortRef levels = levels_of(data);
    const PortRef weights = rewriter_.add_const(old.name + "/weights", std::move(values));
    const PortRef scale =
        rewriter_.add_const(old.name + "/scale", make_f32({static_cast<std::int64_t>(scales.size())}, scales));
    rewriter_.truncate_inputs(id, 2);
    rewriter_.set_input(id, 0, levels);
    rewriter_.set_input(id, 1, weights);
    rewriter_.append_input(id, scale);
    Epilogue epilogue = old.epilogue;
    for (std::int32_t* index : {&epilogue.bias_input, &epilogue.residual_input}) {
      if (*index >= 0) *index = rewriter_.append_input(id, old.inputs.at(static_cast<std::size_t>(*index)));
    }
    Node& node = rewriter_.at(id);
    node.type = "Quantized" + old.type;
    node.attributes.set("zero_point", data.grid.zero_point);
    node.epilogue = epilogue;
  }

  Rewriter rewriter_;
  std::map<std::pair<PortRef, LevelGrid>, PortRef> levels_;
  std::map<NodeId, NodeId> direct_;  // FakeQuantize to its levels
};

}  // namespace

void quantize_to_int8(Graph& graph) {
  const auto order = graph.topological_order();
  Quantizer quantizer(graph);
  for (const NodeId id : order) quantizer.visit(id);
  quantizer.hand_over_names();
  graph.remove_dead();
}

}  // namespace headrace
