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

bool is_foldable(const Graph& graph, const Node& node) {
  if (node.type == "Const" || node.type == "Parameter" || node.type == "Result" || node.inputs.empty()) return false;
  const bool reads_constants =
      std::all_of(node.inputs.begin(), node.inputs.end(), [&](const PortRef& input) { return is_const(graph, input); });
  return (reads_constants || reads_only_shape(node)) && is_evaluable(graph, node) && is_worth_folding(graph, node);
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

void fold_constants(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (rewriter.is_removed(id) || !is_foldable(graph, graph.at(id))) continue;
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
