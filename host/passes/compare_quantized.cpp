// SPDX-License-Identifier: Apache-2.0
#include "passes/compare_quantized.hpp"

#include "core/error.hpp"
#include "ops/descriptor.hpp"
#include "passes/make_node.hpp"
#include "passes/quantize_weights.hpp"

namespace headrace {
namespace {

class TwinBuilder {
 public:
  TwinBuilder(Graph& graph, const ByteRanges& ranges)
      : graph_(graph), ranges_(ranges), rewriter_(graph), weights_(rewriter_) {}

  LayerComparison add(const QuantizableLayer& layer) {
    const std::string name = graph_.at(layer.node).name + "/twin";
    const PortRef own = channels_last_or_second(layer.node, {layer.node, 0}, name + "/own");
    const PortRef twin = channels_last_or_second(layer.node, add_twin(layer, name), name + "/bytes");
    const PortRef difference = add_op_here("Subtract", name + "/difference", {own, twin});
    LayerComparison comparison;
    comparison.node = layer.node;
    comparison.shift = add_result(mean(name + "/shift", difference, other_axes(layer.node)));
    comparison.error = add_mean_square(name + "/error", layer.node, difference);
    comparison.power = add_mean_square(name + "/power", layer.node, own);
    return comparison;
  }

 private:
  PortRef add_op_here(std::string_view type, const std::string& name, std::vector<PortRef> inputs,
                      const RawAttributes& raw = {}) {
    const OpDescriptor* op = find_op(type);
    HEADRACE_ASSERT(op != nullptr, "an operator that compares layers is not built in");
    Node node;
    node.name = name;
    node.type = type;
    node.attributes = op->parse(type, node.opset, raw);
    node.inputs = std::move(inputs);
    node.outputs.resize(1);
    return rewriter_.add(std::move(node));
  }

  PortRef add_twin(const QuantizableLayer& layer, const std::string& name) {
    const auto [entry, is_new] = quantized_.try_emplace(layer.data);
    if (is_new) entry->second = add_fake_quantize(rewriter_, layer.data, ranges_.at(layer.data));
    Node twin = graph_.at(layer.node);
    twin.name = name;
    twin.fused_names.clear();
    twin.inputs = {entry->second, weights_.quantize(layer.node)};
    for (OutputInfo& output : twin.outputs) output = {output.type, {}, false, {}};
    return rewriter_.add(std::move(twin));
  }

  // A matrix product of any rank as rows of channels: its rank need not be known.
  PortRef channels_last_or_second(NodeId layer, PortRef result, const std::string& name) {
    if (graph_.at(layer).type != "MatMul") return result;
    const Node& node = graph_.at(layer);
    const Shape& weights = graph_.info(node.inputs.at(1)).shape;
    const std::int64_t channels = weights[weights.size() - (node.attributes.get_bool("transpose_b") ? 2 : 1)];
    const PortRef shape = add_ints(name + "/shape", {-1, channels});
    return add_op_here("Reshape", name, {result, shape}, {{"special_zero", "false"}});
  }

  std::vector<std::int64_t> other_axes(NodeId layer) const {
    const Node& node = graph_.at(layer);
    if (node.type == "MatMul") return {0};
    const std::size_t rank = graph_.info(node.inputs.at(1)).shape.size() - (node.type == "GroupConvolution" ? 1 : 0);
    std::vector<std::int64_t> axes = {0};
    for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes;
  }

  PortRef add_ints(const std::string& name, const std::vector<std::int64_t>& values) {
    return rewriter_.add_const(name, make_i64_tensor({static_cast<std::int64_t>(values.size())}, values));
  }

  PortRef mean(const std::string& name, PortRef source, const std::vector<std::int64_t>& axes) {
    return add_op_here("ReduceMean", name, {source, add_ints(name + "/axes", axes)}, {{"keep_dims", "false"}});
  }

  std::size_t add_mean_square(const std::string& name, NodeId layer, PortRef source) {
    const PortRef square = add_op_here("Multiply", name + "/square", {source, source});
    return add_result(mean(name, mean(name + "/channels", square, other_axes(layer)), {0}));
  }

  std::size_t add_result(PortRef source) {
    Node result;
    result.name = graph_.at(source).name + "/result";
    result.type = "Result";
    result.inputs = {source};
    rewriter_.add(std::move(result));
    return graph_.results().size() - 1;
  }

  Graph& graph_;
  const ByteRanges& ranges_;
  Rewriter rewriter_;
  WeightsQuantizer weights_;
  std::map<PortRef, PortRef> quantized_;
};

}  // namespace

std::vector<LayerComparison> add_quantized_twins(Graph& graph, const std::vector<QuantizableLayer>& layers,
                                                 const ByteRanges& ranges) {
  TwinBuilder builder(graph, ranges);
  std::vector<LayerComparison> comparisons;
  for (const QuantizableLayer& layer : layers) comparisons.push_back(builder.add(layer));
  return comparisons;
}

}  // namespace headrace
