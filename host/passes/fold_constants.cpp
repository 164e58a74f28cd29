// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/evaluate.hpp"
#include "ops/strided.hpp"
#include "passes/rewriter.hpp"

namespace headrace {
namespace {

// A folded tensor may grow by the widest conversion (i8 to f32); past that, only while it stays small.
constexpr std::size_t kMaxGrowth = 4;
constexpr std::size_t kMaxGrownBytes = std::size_t{16} << 20U;

std::size_t bytes_of(const OutputInfo& info) {
  return static_cast<std::size_t>(count_elems(info.shape)) * size_bytes(info.type);
}

bool is_worth_folding(const Graph& graph, const Node& node) {
  std::size_t from = 0;
  std::size_t to = 0;
  for (const PortRef& input : node.inputs) from += bytes_of(graph.info(input));
  for (const OutputInfo& output : node.outputs) to += bytes_of(output);
  return to <= kMaxGrownBytes || to <= kMaxGrowth * from;
}

std::vector<Tensor> values_of(const Graph& graph, const Node& node) {
  std::vector<Tensor> inputs;
  for (const PortRef& input : node.inputs) {
    inputs.push_back(is_const(graph, input) ? graph.at(input).value.aligned_copy()
                                            : shape_only_tensor(graph.info(input)));
  }
  try {
    return evaluate(node, inputs);
  } catch (const Error& error) {
    rethrow_with_prefix(error, "layer '" + node.name + "' (" + node.source_type + ")");
  }
}

}  // namespace

Foldable is_constant_foldable(const Graph& graph, const Node& node) {
  if (node.type == "Const" || node.type == "Parameter" || node.type == "Result" || node.inputs.empty()) return {};
  const bool reads_constants =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](const PortRef& input) { return is_const(graph, input); });
  const bool is_shape_known = reads_only_shape(node) && graph.info(node.inputs[0]).is_resolved;
  if (!reads_constants && !is_shape_known) return {};
  const bool is_resolved = std::all_of(node.outputs.begin(), node.outputs.end(),
                                       [](const OutputInfo& output) { return output.is_resolved; });
  if (!is_resolved) return {false, "its shape is not known"};
  if (!is_evaluable(graph, node)) return {false, "it cannot be computed in its element types"};
  if (!is_worth_folding(graph, node)) return {false, "its value would take much more memory than its inputs"};
  return {true, ""};
}

void fold_constants(Graph& graph) {
  fold_constants_where(graph, [](const Graph&, const Node&) { return true; });
}

void fold_constants_where(Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_wanted) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (rewriter.is_removed(id) || !is_constant_foldable(graph, graph.at(id)).is_foldable) continue;
    if (!is_wanted(graph, graph.at(id))) continue;
    const std::vector<Tensor> values = values_of(graph, graph.at(id));
    const std::string name = graph.at(id).name;
    for (std::size_t port = 0; port < values.size(); ++port) {
      const PortRef from{id, static_cast<std::int32_t>(port)};
      if (rewriter.users(from).empty()) continue;
      const std::string suffix = values.size() == 1 ? "" : "." + std::to_string(port);
      const PortRef to = rewriter.add_const(name + suffix, values[port]);
      rewriter.take_over(from, to);
      rewriter.at(to.node).fused_names.clear();  // a constant is no layer that runs
    }
  }
  graph.remove_dead();
}

}  // namespace headrace
