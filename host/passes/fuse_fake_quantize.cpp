// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_fake_quantize.hpp"

#include "ops/descriptor.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kLevels = 256;

struct Range {
  float low = 0.0F;
  float high = 1.0F;
};

std::optional<Range> range_of(const Graph& graph, const Node& node) {
  if (node.type != "FakeQuantize" || node.inputs.size() != 5 || !node.epilogue.is_empty()) return std::nullopt;
  double values[4] = {};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const auto value = const_scalar(graph, node.inputs[i + 1]);
    if (!value) return std::nullopt;
    values[i] = *value;
  }
  const bool is_same = values[0] == values[2] && values[1] == values[3] && values[0] < values[1];
  if (!is_same || node.attributes.get_int("levels") != kLevels) return std::nullopt;
  return Range{static_cast<float>(values[0]), static_cast<float>(values[1])};
}

// Whether the activation changes only values that lie outside of the range, and leaves them outside.
bool is_subsumed(const Epilogue& epilogue, const Range& range) {
  switch (epilogue.activation) {
    case Activation::kNone: return true;
    case Activation::kRelu: return range.low >= 0.0F;
    case Activation::kClamp: return epilogue.alpha <= range.low && range.high <= epilogue.beta;
    default: return false;
  }
}

void fuse(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const auto range = range_of(graph, graph.at(id));
  if (!range) return;
  const PortRef source = graph.at(id).inputs[0];
  const Node& producer = graph.at(source);
  const OpDescriptor* op = find_op(producer.type);
  if (op == nullptr || op->fuses == nullptr || producer.outputs.size() != 1) return;
  if (producer.outputs[0].shape != graph.at(id).outputs[0].shape) return;
  if (!rewriter.only_user(source) || !is_subsumed(producer.epilogue, *range)) return;
  Epilogue epilogue = producer.epilogue;
  epilogue.activation = Activation::kFakeQuantize;
  epilogue.alpha = range->low;
  epilogue.beta = range->high;
  if (!op->fuses(producer, epilogue)) return;
  rewriter.at(source.node).epilogue = epilogue;
  rewriter.take_over({id, 0}, source);
}

}  // namespace

void fuse_fake_quantize(Graph& graph) {
  const auto order = graph.topological_order();
  Rewriter rewriter(graph);
  for (const NodeId id : order) {
    if (!rewriter.is_removed(id)) fuse(rewriter, id);
  }
  graph.remove_dead();
}

}  // namespace headrace
