// SPDX-License-Identifier: Apache-2.0
// Infers types, shapes and small values node by node, for whole networks and for the graphs inside nodes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

// Most elements of a value that is followed before the run: computations of shapes are tiny; anything larger is data,
// which folding handles.
inline constexpr std::int64_t kMaxValueElems = 4096;

// Tensors whose values are known before the run.
using KnownValues = std::map<PortRef, Tensor>;

// Fills type, shape and is_resolved of a node's outputs from those of its inputs; what is known and small is followed
// in `values`. Parameters must be resolved by the caller.
// Throws kUnsupported for an unknown operator; UnknownValue where a shape depends on a value that is not known; what
// the operator's infer throws, with "layer 'NAME' (TYPE): " before.
void infer_node(Graph& graph, NodeId id, KnownValues& values);

// A body with every tensor resolved for given inputs.
struct InferredBody {
  Graph graph;
  KnownValues values;

  // What is known of the Result with this number. Valid while the body lives.
  InferInput result(std::size_t number) const;
};

// Infers a copy of the graph from what is known of each of its Parameters. Throws as infer_node does, and kBadModel
// where an input does not fit its Parameter.
InferredBody infer_body(const Graph& graph, std::span<const InferInput> parameters);

// Checks that a Parameter of a body takes a tensor of this type and shape. Throws kBadModel naming it.
void check_parameter(const Node& parameter, ElementType type, const Shape& shape);

// Runs one layer on the host by its operator's reference; the shapes of what it returns may depend on values. Types and
// shapes in the node are not read. Types that are only stored (f16, u16) go in and out as they are. Throws as
// infer_node does.
std::vector<Tensor> run_layer(const Node& node, std::span<const Tensor> inputs);

// Runs a graph on the host by its operators' references; every shape is found on the way, so they may depend on
// values. One input per Parameter, one output per Result. Throws as infer_node does.
std::vector<Tensor> run_graph(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace headrace
