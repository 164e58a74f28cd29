// SPDX-License-Identifier: Apache-2.0
#include "passes/recognize_shuffle.hpp"

#include "passes/make_node.hpp"

namespace headrace {
namespace {

// The node that gives the tensor, where it has this type and nothing else reads the tensor.
const Node* inner(const Rewriter& rewriter, PortRef ref, std::string_view type) {
  const Node& node = rewriter.graph().at(ref);
  return node.type == type && rewriter.only_user(ref) ? &node : nullptr;
}

struct Shuffle {
  PortRef source;
  std::size_t axis = 0;
  std::int64_t group = 1;
};

// The axis that the order swaps with the next one, every other staying in place.
std::optional<std::size_t> swapped_axis(const std::vector<std::int64_t>& order) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == static_cast<std::int64_t>(i)) continue;
    const bool is_swap = !axis && i + 1 < order.size() && order[i] == static_cast<std::int64_t>(i) + 1 &&
                         order[i + 1] == static_cast<std::int64_t>(i);
    if (!is_swap) return std::nullopt;
    axis = i++;
  }
  return axis;
}

std::optional<Shuffle> match(const Rewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  if (node.type != "Reshape") return std::nullopt;
  const Node* transpose = inner(rewriter, node.inputs.at(0), "Transpose");
  if (transpose == nullptr || transpose->inputs.size() != 2 || !is_const(graph, transpose->inputs[1])) {
    return std::nullopt;
  }
  const auto axis = swapped_axis(to_int64s(graph.at(transpose->inputs[1]).value));
  const Node* split = inner(rewriter, transpose->inputs[0], "Reshape");
  if (!axis || split == nullptr) return std::nullopt;
  const Shape& whole = graph.info(split->inputs.at(0)).shape;
  const Shape& parts = split->outputs.at(0).shape;
  if (node.outputs.at(0).shape != whole || parts.size() != whole.size() + 1) return std::nullopt;
  Shape joined = parts;
  joined[*axis] *= joined[*axis + 1];
  joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(*axis) + 1);
  if (joined != whole) return std::nullopt;
  return Shuffle{split->inputs[0], *axis, parts[*axis]};
}

}  // namespace

void recognize_shuffle(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (rewriter.is_removed(id)) continue;
    const auto shuffle = match(rewriter, graph.at(id));
    if (!shuffle || shuffle->group < 1) continue;
    const std::string name = graph.at(id).name;
    const RawAttributes raw = {{"axis", std::to_string(shuffle->axis)}, {"group", std::to_string(shuffle->group)}};
    rewriter.take_over({id, 0}, add_op(rewriter, "ShuffleChannels", name, {shuffle->source}, raw));
  }
  graph.remove_dead();
}

}  // namespace headrace
