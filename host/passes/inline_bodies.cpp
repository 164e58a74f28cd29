// SPDX-License-Identifier: Apache-2.0
#include "passes/inline_bodies.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ops/body_slices.hpp"
#include "ops/infer_graph.hpp"
#include "passes/fold_constants.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// More copies of a body cost more to plan than its layers gain by running elsewhere.
constexpr std::int64_t kMaxUnrolled = 8;
constexpr std::size_t kMaxUnrolledNodes = 512;

bool is_true(const Tensor& value) { return to_doubles(value).at(0) != 0; }

InferInput known_input(const Graph& graph, PortRef ref) {
  const OutputInfo& info = graph.info(ref);
  return {info.type, info.shape, is_const(graph, ref) ? &graph.at(ref).value : nullptr};
}

// Copies the body's nodes, resolved for these sources of its Parameters, into the graph. Returns what its Results read.
// The prefix is a copy: adding nodes moves the graph's own names.
std::vector<PortRef> splice(Rewriter& rewriter, const std::string prefix, const Graph& body,
                            const std::vector<PortRef>& sources) {
  std::vector<InferInput> known;
  for (const PortRef& source : sources) known.push_back(known_input(rewriter.graph(), source));
  const InferredBody inferred = infer_body(body, known);
  std::map<PortRef, PortRef> places;
  for (std::size_t i = 0; i < sources.size(); ++i) places[{inferred.graph.parameters()[i], 0}] = sources[i];
  for (const NodeId id : inferred.graph.topological_order()) {
    Node node = inferred.graph.at(id);
    if (node.type == "Parameter" || node.type == "Result") continue;
    node.name = prefix + "/" + node.name;
    for (PortRef& input : node.inputs) input = places.at(input);
    for (OutputInfo& output : node.outputs) output.names.clear();
    const std::size_t count = node.outputs.size();
    const NodeId copy = rewriter.add(std::move(node)).node;
    for (std::size_t i = 0; i < count; ++i) {
      const auto port = static_cast<std::int32_t>(i);
      places[{id, port}] = {copy, port};
    }
  }
  std::vector<PortRef> results;
  for (const NodeId result : inferred.graph.results())
    results.push_back(places.at(inferred.graph.at(result).inputs[0]));
  return results;
}

// Lets the readers of the node's output read the tensor that a body's Result reads. That tensor may be an input of the
// node or stand for another output as well: then a Convert to its own type goes between, which remove_identities drops
// where it can.
class OutputMover {
 public:
  OutputMover(Rewriter& rewriter, NodeId node) : rewriter_(rewriter), node_(node) {
    for (const PortRef& input : rewriter.graph().at(node).inputs) taken_.insert(input);
  }

  void move(std::size_t output, PortRef to) {
    const PortRef from{node_, static_cast<std::int32_t>(output)};
    if (rewriter_.is_removed(node_) || rewriter_.users(from).empty()) return;
    if (!taken_.insert(to).second) {
      const std::string type(to_string(rewriter_.graph().info(to).type));
      to = add_op(rewriter_, "Convert", rewriter_.graph().at(node_).name + "/" + std::to_string(output), {to},
                  {{"destination_type", type}});
    }
    rewriter_.take_over(from, to);
  }

 private:
  Rewriter& rewriter_;
  NodeId node_;
  std::set<PortRef> taken_;
};

// Returns false where the condition is not known.
bool inline_if(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  if (!is_const(graph, graph.at(id).inputs[0])) return false;
  const Body body = graph.at(id).bodies.at(is_true(graph.at(graph.at(id).inputs[0]).value) ? 0 : 1);
  std::vector<PortRef> sources(body.graph->parameters().size());
  for (const BodyInput& input : body.inputs) sources.at(input.parameter) = graph.at(id).inputs.at(input.input);
  const std::vector<PortRef> results = splice(rewriter, graph.at(id).name, *body.graph, sources);
  OutputMover mover(rewriter, id);
  for (const BodyOutput& output : body.outputs) mover.move(output.output, results.at(output.result));
  return true;
}

// Iterations that the loop surely runs, or nothing.
std::optional<std::int64_t> count_iterations(const Graph& graph, const Node& node) {
  const Body& body = node.bodies.at(0);
  std::optional<std::int64_t> count;
  for (const BodyInput& input : body.inputs) {
    if (input.slice) count = count_parts(node, *input.slice, graph.info(node.inputs.at(input.input)).shape);
  }
  if (node.type == "TensorIterator") return count.value_or(1);
  if (!is_const(graph, node.inputs[0]) || !is_const(graph, node.inputs[1])) return std::nullopt;
  if (!is_true(graph.at(node.inputs[1]).value)) return 0;
  if (body.condition_result) {
    const Graph& inner = *body.graph;
    const PortRef source = inner.at(inner.results().at(*body.condition_result)).inputs[0];
    if (!is_const(inner, source) || !is_true(inner.at(source).value)) return std::nullopt;
  }
  const std::int64_t trips = to_int64s(graph.at(node.inputs[0]).value).at(0);
  if (trips < 0) return count;
  return std::min(trips, count.value_or(trips));
}

PortRef add_ints(Rewriter& rewriter, const std::string& name, std::int64_t value) {
  return rewriter.add_const(name, make_i64_tensor({1}, std::vector<std::int64_t>{value}));
}

// A Slice that reads one part.
PortRef add_part(Rewriter& rewriter, const Node& node, const BodySlice& slice, PortRef source, std::int64_t number) {
  const Shape& shape = rewriter.graph().info(source).shape;
  const std::int64_t start = part_start(node, slice, shape, number);
  const std::string name = node.name + "/part" + std::to_string(number);
  return add_op(
      rewriter, "Slice", name,
      {source, add_ints(rewriter, name + "/start", start), add_ints(rewriter, name + "/stop", start + slice.part_size),
       add_ints(rewriter, name + "/step", 1), add_ints(rewriter, name + "/axis", slice.axis)},
      {}, 8);
}

class Unroller {
 public:
  Unroller(Rewriter& rewriter, NodeId id)
      : rewriter_(rewriter), node_(rewriter.graph().at(id)), body_(node_.bodies[0]) {}

  void run(std::int64_t count) {
    std::vector<PortRef> sources(body_.graph->parameters().size());
    for (const BodyInput& input : body_.inputs) {
      if (!input.slice) sources.at(input.parameter) = node_.inputs.at(input.input);
    }
    std::vector<PortRef> results;
    std::vector<std::vector<PortRef>> parts(body_.outputs.size());
    for (std::int64_t i = 0; i < count; ++i) {
      set_iteration(sources, i);
      results = splice(rewriter_, node_.name + "/" + std::to_string(i), *body_.graph, sources);
      for (std::size_t k = 0; k < parts.size(); ++k) parts[k].push_back(results.at(body_.outputs[k].result));
      for (const BackEdge& edge : body_.back_edges) sources.at(edge.parameter) = results.at(edge.result);
    }
    OutputMover mover(rewriter_, node_.id);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const BodyOutput& output = body_.outputs[k];
      mover.move(output.output, output.slice ? add_join(output, parts[k]) : results.at(output.result));
    }
  }

 private:
  void set_iteration(std::vector<PortRef>& sources, std::int64_t number) {
    for (const BodyInput& input : body_.inputs) {
      if (!input.slice) continue;
      sources.at(input.parameter) = add_part(rewriter_, node_, *input.slice, node_.inputs.at(input.input), number);
    }
    if (!body_.iteration_parameter) return;
    const Node& parameter = body_.graph->at(body_.graph->parameters().at(*body_.iteration_parameter));
    const bool is_list = parameter.declared_shape.is_rank_known && parameter.declared_shape.dims.size() == 1;
    const Tensor value = make_i64_tensor(is_list ? Shape{1} : Shape{}, std::vector<std::int64_t>{number});
    sources.at(*body_.iteration_parameter) = rewriter_.add_const(node_.name + "/iteration" + std::to_string(number),
                                                                 convert(value, parameter.outputs.at(0).type));
  }

  PortRef add_join(const BodyOutput& output, std::vector<PortRef> parts) {
    if (output.slice->stride < 0) std::reverse(parts.begin(), parts.end());
    return add_op(rewriter_, "Concat", node_.name + "/join" + std::to_string(output.output), std::move(parts),
                  {{"axis", std::to_string(output.slice->axis)}});
  }

  Rewriter& rewriter_;
  Node node_;  // copies: adding nodes moves the graph's own
  Body body_;
};

bool unroll(Rewriter& rewriter, NodeId id) {
  const Node& node = rewriter.graph().at(id);
  const std::optional<std::int64_t> count = count_iterations(rewriter.graph(), node);
  if (!count || *count < 1 || *count > kMaxUnrolled) return false;
  if (node.bodies[0].graph->nodes().size() * static_cast<std::size_t>(*count) > kMaxUnrolledNodes) return false;
  Unroller(rewriter, id).run(*count);
  return true;
}

std::vector<NodeId> nodes_with_bodies(const Graph& graph) {
  std::vector<NodeId> ids = graph.topological_order();
  std::erase_if(ids, [&](NodeId id) { return graph.at(id).bodies.empty(); });
  return ids;
}

}  // namespace

void inline_bodies(Graph& graph) {
  for (bool is_changed = true; is_changed && !nodes_with_bodies(graph).empty();) {
    is_changed = false;
    fold_constants(graph);
    const std::vector<NodeId> ids = nodes_with_bodies(graph);
    {
      Rewriter rewriter(graph);
      for (const NodeId id : ids) {
        if (rewriter.is_removed(id)) continue;
        is_changed |= graph.at(id).type == "If" ? inline_if(rewriter, id) : unroll(rewriter, id);
      }
    }
    graph.remove_dead();
  }
}

}  // namespace headrace
