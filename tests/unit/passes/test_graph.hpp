// SPDX-License-Identifier: Apache-2.0
// Hand-built graphs for the pass tests, and a small interpreter that runs them through the operators' references.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/descriptor.hpp"
#include "ops/evaluate.hpp"
#include "passes/infer_shapes.hpp"
#include "passes/name_outputs.hpp"

namespace headrace::testing {

// Adds nodes in the words of IR: type, name, inputs, attributes as text.
class GraphBuilder {
 public:
  Graph graph;

  PortRef parameter(const std::string& name, const std::string& shape, ElementType type = ElementType::f32) {
    Node node;
    node.name = name;
    node.type = "Parameter";
    node.declared_shape = parse_partial_shape(shape);
    node.outputs.resize(1);
    node.outputs[0].type = type;
    return {graph.add(std::move(node)), 0};
  }

  PortRef constant(const std::string& name, Tensor value) { return {graph.add_const(name, std::move(value)), 0}; }
  PortRef floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    return constant(name, make_f32_tensor(shape, values));
  }
  PortRef ints(const std::string& name, const std::vector<std::int64_t>& values) {
    return constant(name, make_i64_tensor({static_cast<std::int64_t>(values.size())}, values));
  }
  PortRef scalar_int(const std::string& name, std::int64_t value) {
    return constant(name, make_i64_tensor({}, std::vector<std::int64_t>{value}));
  }
  // Seeded values in [-1, 1].
  PortRef random(const std::string& name, const Shape& shape, unsigned seed) {
    return constant(name, random_tensor(shape, seed));
  }

  PortRef op(const std::string& type, const std::string& name, const std::vector<PortRef>& inputs,
             const RawAttributes& raw = {}, std::int32_t opset = 1, std::size_t outputs = 1) {
    const OpDescriptor* descriptor = find_op(type);
    if (descriptor == nullptr) throw Error(ErrorCode::kUnsupported, "the test needs operator " + type);
    Node node;
    node.name = name;
    node.type = type;
    node.opset = opset;
    node.attributes = descriptor->parse(type, opset, raw);
    node.inputs = inputs;
    node.outputs.resize(outputs);
    return {graph.add(std::move(node)), 0};
  }

  NodeId result(PortRef source, const std::string& tensor_name = {}) {
    if (!tensor_name.empty()) {
      graph.at(source.node).outputs.at(static_cast<std::size_t>(source.port)).names.push_back(tensor_name);
    }
    Node node;
    node.name = "result" + std::to_string(graph.results().size());
    node.type = "Result";
    node.inputs = {source};
    return graph.add(std::move(node));
  }

  static Tensor random_tensor(const Shape& shape, unsigned seed) {
    std::mt19937 engine(seed);
    Tensor tensor(ElementType::f32, shape);
    for (float& value : tensor.mutable_values<float>()) {
      value = static_cast<float>(engine() % 2001U) / 1000.0F - 1.0F;
    }
    return tensor;
  }
};

// Runs a graph with resolved shapes; returns one tensor per Result.
inline std::vector<Tensor> run_graph(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<PortRef, Tensor> values;
  for (std::size_t i = 0; i < graph.parameters().size(); ++i) values[{graph.parameters()[i], 0}] = inputs.at(i);
  std::map<NodeId, Tensor> results;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    if (node.type == "Parameter") continue;
    if (node.type == "Result") {
      results[id] = values.at(node.inputs[0]);
    } else if (node.type == "Const") {
      values[{id, 0}] = node.value;
    } else {
      std::vector<Tensor> sources;
      for (const PortRef& input : node.inputs) sources.push_back(values.at(input));
      const auto outputs = evaluate(node, sources);
      for (std::size_t i = 0; i < outputs.size(); ++i) values[{id, static_cast<std::int32_t>(i)}] = outputs[i];
    }
  }
  std::vector<Tensor> list;
  for (const NodeId id : graph.results()) list.push_back(results.at(id));
  return list;
}

// Seeded inputs for every Parameter of a resolved graph.
inline std::vector<Tensor> random_inputs(const Graph& graph, unsigned seed = 7) {
  std::vector<Tensor> inputs;
  for (const NodeId id : graph.parameters()) {
    const OutputInfo& info = graph.info({id, 0});
    inputs.push_back(convert(GraphBuilder::random_tensor(info.shape, seed++), info.type));
  }
  return inputs;
}

// Equal types and shapes, and max|a-b| <= tolerance * max(1, max|b|); NaN matches NaN only.
inline void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = 1e-5) {
  ASSERT_EQ(actual.type(), expected.type());
  ASSERT_EQ(actual.shape(), expected.shape());
  const auto a = to_doubles(actual);
  const auto b = to_doubles(expected);
  double scale = 1.0;
  for (const double value : b) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    ASSERT_TRUE(std::abs(a[i] - b[i]) <= tolerance * scale) << "element " << i << ": " << a[i] << " against " << b[i];
  }
}

// Applies the pass to a resolved copy and checks that shapes, output names and numbers stay. Returns the new graph.
template <typename Pass>
Graph expect_same_meaning(const Graph& before, Pass pass, double tolerance = 1e-5) {
  Graph original = before;
  infer_shapes(original);
  name_outputs(original);
  Graph changed = original;
  pass(changed);
  verify(changed, "pass under test");
  const auto inputs = random_inputs(original);
  const auto expected = run_graph(original, inputs);
  const auto actual = run_graph(changed, inputs);
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    expect_close(actual[i], expected[i], tolerance);
    EXPECT_EQ(output_name(changed, changed.results()[i]), output_name(original, original.results()[i]));
  }
  for (std::size_t i = 0; i < original.parameters().size(); ++i) {
    EXPECT_EQ(input_name(changed, changed.parameters()[i]), input_name(original, original.parameters()[i]));
  }
  Graph again = changed;
  infer_shapes(again);  // the recorded shapes are those that inference gives
  for (const NodeId id : changed.nodes()) {
    const Node& node = changed.at(id);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      EXPECT_EQ(node.outputs[i].shape, again.at(id).outputs[i].shape) << node.name;
      EXPECT_EQ(node.outputs[i].type, again.at(id).outputs[i].type) << node.name;
    }
  }
  return changed;
}

// How many nodes of a type the graph has.
inline std::size_t count_type(const Graph& graph, std::string_view type) {
  std::size_t count = 0;
  for (const NodeId id : graph.nodes()) count += graph.at(id).type == type ? 1U : 0U;
  return count;
}

// Expects an Error of this code whose message holds every part.
template <typename Call>
void expect_error(Call call, ErrorCode code, const std::vector<std::string>& parts) {
  try {
    call();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace headrace::testing
