// SPDX-License-Identifier: Apache-2.0
#include "passes/explain_kept.hpp"

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "passes/channel_factors.hpp"
#include "passes/fold_constants.hpp"
#include "passes/fold_portable.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

bool is_resolved(const Graph& graph, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [](const OutputInfo& o) { return o.is_resolved; }) &&
         std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const PortRef& input) { return graph.info(input).is_resolved; });
}

std::string reason_of_constants(const Graph& graph, const Node& node) {
  if (is_byte_weights(graph, node)) return "its constant is stored in bytes, from which readers compute faster";
  const bool reads_constants =
      !node.inputs.empty() &&
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](PortRef input) { return is_const(graph, input); });
  return reads_constants ? is_constant_foldable(graph, node).reason : "";
}

// Of a Multiply or an Add by a constant directly behind a convolution or MatMul. A bias is no layer to explain.
std::string reason_of_scale(const Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const bool is_product = is_numpy_binary(node, "Multiply");
  if (!is_product && !is_numpy_binary(node, "Add")) return "";
  const auto operand = const_operand(graph, node);
  if (!operand) return "";
  const Node& producer = graph.at(operand->data);
  if (!is_weighted(graph, producer)) return "";
  const std::string before = quote(producer.name);
  if (rewriter.is_output(operand->data)) return "what " + before + " gives is an output of the network";
  if (!rewriter.only_user(operand->data)) return "another layer reads what " + before + " gives";
  const auto values =
      channel_values(*const_f32(graph, operand->constant), node.outputs.at(0).shape, bias_axis_of(producer));
  if (!values) return "its constant is not one number for each channel of " + before;
  const bool is_finite = std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); });
  if (!is_finite) return "its constant is not finite";
  if (!is_product) return "";
  return const_f32(graph, producer.inputs.at(1)) == nullptr ? "the weights of " + before + " are no f32 constant"
                                                            : "the weights of " + before + " would not stay finite";
}

std::string reason_of_identity(const Rewriter& rewriter, const Node& node) {
  const bool may_be_identity =
      node.type == "Reshape" || node.type == "Squeeze" || node.type == "Unsqueeze" || node.type == "Convert";
  if (!may_be_identity || node.outputs.size() != 1) return "";
  const OutputInfo& source = rewriter.graph().info(node.inputs.at(0));
  if (source.shape != node.outputs[0].shape || source.type != node.outputs[0].type) return "";
  return "it passes its input on, but gives a network output its name";
}

std::string reason_to_keep(const Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  if (const std::string reason = reason_of_constants(graph, node); !reason.empty()) return reason;
  if (!is_resolved(graph, node)) return "";
  if (node.type == "BatchNormInference") return "its numbers are no f32 constants, or the network is quantized";
  const std::string reason = reason_of_scale(rewriter, node);
  return reason.empty() ? reason_of_identity(rewriter, node) : reason;
}

}  // namespace

std::vector<KeptLayer> explain_kept(const Graph& graph) {
  Graph copy = graph;  // the Rewriter, which knows the readers, wants one that it could change
  const Rewriter rewriter(copy);
  std::vector<KeptLayer> kept;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    const std::string reason = reason_to_keep(rewriter, node);
    if (!reason.empty()) kept.push_back({node.name, node.type, reason});
  }
  return kept;
}

}  // namespace headrace
