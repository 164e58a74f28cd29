// SPDX-License-Identifier: Apache-2.0
#include "passes/recognize_layer_norm.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

// Mean over constant axes that keeps them as ones; `rank` wraps negative axes.
std::optional<std::vector<std::int64_t>> mean_axes(const Graph& graph, const Node& node) {
  if (node.type != "ReduceMean" || !node.epilogue.is_empty() || !node.attributes.get_bool("keep_dims")) {
    return std::nullopt;
  }
  if (node.inputs.size() != 2 || !is_const(graph, node.inputs[1])) return std::nullopt;
  auto axes = to_int64s(graph.at(node.inputs[1]).value);
  const std::size_t rank = graph.info(node.inputs[0]).shape.size();
  for (std::int64_t& axis : axes) axis = normalize_axis(axis, rank, "axis");
  std::sort(axes.begin(), axes.end());
  return axes;
}

struct LayerNorm {
  PortRef source;
  std::vector<std::int64_t> axes;
  double epsilon = 0.0;
};

// x - mean(x); fills source and axes.
bool match_centred(const Graph& graph, PortRef ref, LayerNorm& found) {
  const Node& difference = graph.at(ref);
  if (!is_numpy_binary(difference, "Subtract")) return false;
  const Node& mean = graph.at(difference.inputs[1]);
  const auto axes = mean_axes(graph, mean);
  if (!axes || mean.inputs[0] != difference.inputs[0]) return false;
  found.source = difference.inputs[0];
  found.axes = *axes;
  return true;
}

bool is_square_of(const Graph& graph, PortRef ref, PortRef base) {
  const Node& node = graph.at(ref);
  if (is_numpy_binary(node, "Multiply")) return node.inputs[0] == base && node.inputs[1] == base;
  return is_numpy_binary(node, "Power") && node.inputs[0] == base && const_scalar(graph, node.inputs[1]) == 2.0;
}

// sqrt(mean(centred^2) + eps); fills epsilon.
bool match_deviation(const Graph& graph, PortRef ref, PortRef centred, LayerNorm& found) {
  const Node& root = graph.at(ref);
  if (root.type == "Power") {
    if (const_scalar(graph, root.inputs.at(1)) != 0.5) return false;
  } else if (root.type != "Sqrt") {
    return false;
  }
  const Node& sum = graph.at(root.inputs.at(0));
  if (!is_numpy_binary(sum, "Add")) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto epsilon = const_scalar(graph, sum.inputs[i]);
    const Node& variance = graph.at(sum.inputs[1 - i]);
    if (!epsilon || mean_axes(graph, variance) != found.axes) continue;
    found.epsilon = *epsilon;
    return is_square_of(graph, variance.inputs[0], centred);
  }
  return false;
}

std::optional<LayerNorm> match(const Graph& graph, const Node& node) {
  LayerNorm found;
  if (!is_numpy_binary(node, "Divide") || node.outputs.at(0).type != ElementType::f32) return std::nullopt;
  if (!match_centred(graph, node.inputs[0], found)) return std::nullopt;
  if (!match_deviation(graph, node.inputs[1], node.inputs[0], found)) return std::nullopt;
  return found;
}

std::string exact_text(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(std::numeric_limits<double>::max_digits10);
  text << value;
  return text.str();
}

}  // namespace

void recognize_layer_norm(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    const auto found = match(graph, graph.at(id));
    // MVN wants a positive epsilon; parts that are read elsewhere stay beside it.
    if (!found || found->epsilon <= 0) continue;
    const std::string name = graph.at(id).name;
    const PortRef axes = rewriter.add_const(
        name + "/axes", make_i64_tensor({static_cast<std::int64_t>(found->axes.size())}, found->axes));
    const RawAttributes raw = {
        {"normalize_variance", "true"}, {"eps", exact_text(found->epsilon)}, {"eps_mode", "inside_sqrt"}};
    rewriter.take_over({id, 0}, add_op(rewriter, "MVN", name, {found->source, axes}, raw, 6));
  }
  graph.remove_dead();
}

}  // namespace headrace
