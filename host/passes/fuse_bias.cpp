// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_bias.hpp"

#include "ops/descriptor.hpp"
#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

void fuse(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  if (!is_numpy_binary(graph.at(id), "Add")) return;
  const auto operand = const_operand(graph, graph.at(id));
  if (!operand || !rewriter.only_user(operand->data)) return;
  const Node& producer = graph.at(operand->data);
  if (!is_weighted(graph, producer) || !producer.epilogue.is_empty()) return;
  const auto values =
      channel_values(*const_f32(graph, operand->constant), producer.outputs.at(0).shape, bias_axis_of(producer));
  if (!values) return;
  Epilogue epilogue;
  epilogue.bias_input = static_cast<std::int32_t>(producer.inputs.size());
  const OpDescriptor* op = find_op(producer.type);
  if (op == nullptr || op->fuses == nullptr || !op->fuses(producer, epilogue)) return;
  const NodeId target = producer.id;
  const Shape shape = {static_cast<std::int64_t>(values->size())};
  const PortRef bias = rewriter.add_const(graph.at(id).name + "/bias", make_f32(shape, *values));
  rewriter.append_input(target, bias);
  rewriter.at(target).epilogue = epilogue;
  rewriter.take_over({id, 0}, {target, 0});
}

}  // namespace

void fuse_bias(Graph& graph) { rewrite_each(graph, fuse); }

}  // namespace headrace
