// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_fake_quantize.hpp"

#include "passes/byte_grid.hpp"
#include "passes/fuse_activation.hpp"

namespace headrace {
namespace {

constexpr std::int64_t kLevels = 256;

// Whether the activation changes only values that lie outside of the range, and leaves them outside.
bool is_subsumed(const Epilogue& epilogue, const LevelRange& range) {
  switch (epilogue.activation) {
    case Activation::kNone: return true;
    case Activation::kRelu: return range.in_low >= 0.0;
    case Activation::kClamp:
      return static_cast<double>(epilogue.alpha) <= range.in_low && range.in_high <= static_cast<double>(epilogue.beta);
    default: return false;
  }
}

void fuse(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.at(id);
  const auto range = level_range_of(graph, node);
  if (!range || range->levels != kLevels || !node.epilogue.is_empty()) return;
  if (range->in_low != range->out_low || range->in_high != range->out_high) return;
  if (!is_subsumed(graph.at(node.inputs[0]).epilogue, *range)) return;
  move_into_epilogue(rewriter, id, {Activation::kFakeQuantize, range->in_low, range->in_high});
}

}  // namespace

void fuse_fake_quantize(Graph& graph) { rewrite_each(graph, fuse); }

}  // namespace headrace
