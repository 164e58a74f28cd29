// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_pad.hpp"

#include <algorithm>

#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr std::size_t kFirstSpatial = 2;

// The spatial amounts of one side where batch and channels are not padded and nothing is cropped.
std::optional<std::vector<std::int64_t>> spatial_pads(const Graph& graph, PortRef ref) {
  if (!is_const(graph, ref)) return std::nullopt;
  const auto pads = to_int64s(graph.at(ref).value);
  if (pads.size() <= kFirstSpatial || pads[0] != 0 || pads[1] != 0) return std::nullopt;
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad < 0; })) return std::nullopt;
  return std::vector<std::int64_t>(pads.begin() + kFirstSpatial, pads.end());
}

bool pads_with_zeros(const Graph& graph, const Node& pad) {
  if (pad.attributes.get_string("pad_mode") != "constant") return false;
  return pad.inputs.size() < 4 || const_scalar(graph, pad.inputs[3]) == 0.0;
}

// Adds to a pads attribute, whose empty list stands for zeros.
void add_pads(Node& node, std::string_view name, const std::vector<std::int64_t>& more) {
  std::vector<std::int64_t> pads = node.attributes.get_ints(name);
  pads.resize(more.size(), 0);
  for (std::size_t i = 0; i < more.size(); ++i) pads[i] += more[i];
  node.attributes.set(name, pads);
}

void fold(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.at(id);
  if (node.type != "Convolution" && node.type != "GroupConvolution") return;
  const std::string& auto_pad = node.attributes.get_string("auto_pad");
  if (auto_pad != "explicit" && auto_pad != "valid") return;
  const PortRef source = node.inputs[0];
  const Node& pad = graph.at(source);
  if (pad.type != "Pad" || !rewriter.only_user(source) || !pads_with_zeros(graph, pad)) return;
  const auto begin = spatial_pads(graph, pad.inputs.at(1));
  const auto end = spatial_pads(graph, pad.inputs.at(2));
  if (!begin || !end) return;
  const PortRef data = pad.inputs[0];
  const std::string name = pad.name;
  Node& target = rewriter.at(id);
  if (auto_pad == "valid") {  // which ignores the lists
    target.attributes.set("pads_begin", std::vector<std::int64_t>(begin->size(), 0));
    target.attributes.set("pads_end", std::vector<std::int64_t>(end->size(), 0));
    target.attributes.set("auto_pad", std::string("explicit"));
  }
  add_pads(target, "pads_begin", *begin);
  add_pads(target, "pads_end", *end);
  target.fused_names.push_back(name);
  rewriter.set_input(id, 0, data);
}

}  // namespace

void fold_pad(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) fold(rewriter, id);
  graph.remove_dead();
}

}  // namespace headrace
