// SPDX-License-Identifier: Apache-2.0
// The network as a directed acyclic graph of operators over tensors with logical (NCHW) shapes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/element_type.hpp"
#include "core/shape.hpp"
#include "core/tensor.hpp"
#include "graph/attributes.hpp"
#include "graph/body.hpp"

namespace headrace {

struct NodeId {
  std::int32_t value = -1;
  bool is_valid() const { return value >= 0; }
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

// One output of a node: the tensor that it produces.
struct PortRef {
  NodeId node;
  std::int32_t port = 0;
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

struct OutputInfo {
  ElementType type = ElementType::f32;
  Shape shape;                     // meaningful where is_resolved
  bool is_resolved = false;        // false until the shapes of the network's inputs are known
  std::vector<std::string> names;  // tensor names, in the file's order
};

// What a fused activation computes on r = the operator's result; alpha and beta as in the operator of that name.
enum class Activation : std::int32_t {
  kNone = 0,
  kRelu = 1,       // max(r, 0)
  kClamp = 2,      // min(max(r, alpha), beta)
  kLeakyRelu = 3,  // r < 0 ? alpha * r : r
  kSigmoid = 4,
  kSwish = 5,     // r * sigmoid(alpha * r)
  kHSwish = 6,    // r * min(max(r + 3, 0), 6) / 6
  kHSigmoid = 7,  // min(max(r + 3, 0), 6) / 6
  kTanh = 8,
  kElu = 9,  // r < 0 ? alpha * (exp(r) - 1) : r
  kGeluErf = 10,
  kGeluTanh = 11,
  kMish = 12,
  kSoftPlus = 13,
  kHardSigmoid = 14,   // min(max(alpha * r + beta, 0), 1)
  kFakeQuantize = 15,  // to the nearest of 256 even levels, the first one alpha, the last one beta
};

// What passes have fused behind a Convolution, GroupConvolution, ConvolutionBackpropData, MatMul or Add:
// result = activation(op(inputs) + bias + residual). Bias and residual are extra inputs of the node.
struct Epilogue {
  std::int32_t bias_input = -1;      // index into Node::inputs of a constant [OC] or [N], or -1
  std::int32_t residual_input = -1;  // index into Node::inputs of a tensor of the output's shape, or -1
  Activation activation = Activation::kNone;
  float alpha = 0.0F;
  float beta = 0.0F;

  bool is_empty() const { return bias_input < 0 && residual_input < 0 && activation == Activation::kNone; }
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

struct Node {
  NodeId id;
  std::string name;  // the layer's name in the file
  std::string type;  // IR's type name in its canonical spelling ("Convolution", "Const", "Parameter", "Result")
  std::int32_t opset = 1;
  Attributes attributes;
  std::vector<PortRef> inputs;
  std::vector<OutputInfo> outputs;
  Tensor value;                 // Const only
  PartialShape declared_shape;  // Parameter only: as the file says
  Epilogue epilogue;
  std::vector<Body> bodies;              // If: then, else; Loop and TensorIterator: one
  std::vector<std::string> fused_names;  // names of the layers that passes folded into this one, in order
  std::string source_type;               // the file's own type name, for messages ("Resize"); same as type for IR
};

// Owns its nodes; ids stay valid until the node is removed, and are never used again. Not thread-safe while changed.
class Graph {
 public:
  std::string name = "network";

  // Adds a node (its id is set here) and returns the id. Inputs must exist unless they are connected later by
  // set_input. A Parameter or Result is appended to parameters() or results().
  NodeId add(Node node);
  NodeId add_const(std::string node_name, Tensor value);

  Node& at(NodeId id);
  const Node& at(NodeId id) const;
  const Node& at(PortRef ref) const { return at(ref.node); }
  bool contains(NodeId id) const;
  const OutputInfo& info(PortRef ref) const;

  // Live ids in ascending order.
  std::vector<NodeId> nodes() const;
  // In the file's order.
  const std::vector<NodeId>& parameters() const { return parameters_; }
  const std::vector<NodeId>& results() const { return results_; }

  // Every (node, input index) that reads the tensor, ascending by node id. O(nodes): in loops use UserMap.
  struct User {
    NodeId node;
    std::int32_t input = 0;
  };
  std::vector<User> users(PortRef ref) const;

  void set_input(NodeId node, std::size_t index, PortRef source);
  // Makes every user of `from` read `to` instead, and moves the tensor names over.
  void replace_uses(PortRef from, PortRef to);
  // Removes a node that nothing reads. Throws kInternal where it is still read or is a Parameter.
  void remove(NodeId id);
  // Removes every node, Parameters excepted, from which no Result can be reached. Returns how many.
  std::size_t remove_dead();

  // Producers before users; among the ready ones the lowest id first, so the order is deterministic.
  // Throws kBadModel naming the nodes of a cycle.
  std::vector<NodeId> topological_order() const;

  // Finds a node by layer name.
  NodeId find(std::string_view node_name) const;

 private:
  std::vector<Node> nodes_;  // index = id
  std::vector<bool> is_live_;
  std::vector<NodeId> parameters_;
  std::vector<NodeId> results_;
};

// All users of all tensors at once, built in O(edges).
class UserMap {
 public:
  explicit UserMap(const Graph& graph);
  const std::vector<Graph::User>& of(PortRef ref) const;

 private:
  std::vector<std::vector<std::vector<Graph::User>>> users_;  // [node][port]
};

// Checks every invariant: inputs exist, no cycle, Results have one input, Parameters none, constants hold a value of
// their declared shape, bodies (they are checked too) join what exists, at most kMaxBodyDepth deep. Throws kInternal
// with the pass's name (or kBadModel from a reader).
void verify(const Graph& graph, std::string_view after);

// Prints one line per node in topological order, stable between runs; those of bodies behind their node, indented.
std::string dump(const Graph& graph);

// The name by which users know a network output: the tensor's first name, else the producer's layer name.
std::string output_name(const Graph& graph, NodeId result);
// The name by which users know a network input: the tensor's first name, else the Parameter's layer name.
std::string input_name(const Graph& graph, NodeId parameter);

bool is_const(const Graph& graph, PortRef ref);

std::string_view to_string(Activation activation);

}  // namespace headrace
