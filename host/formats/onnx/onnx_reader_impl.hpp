// SPDX-License-Identifier: Apache-2.0
// The walk over an ONNX model: names, order, functions and nested graphs. Converters see it through OnnxContext.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/import/import_builder.hpp"
#include "formats/import/refusals.hpp"
#include "formats/onnx/onnx_file.hpp"
#include "formats/onnx/onnx_tensor.hpp"

namespace headrace::detail {

// Sets a variable for the life of this object.
template <typename T>
class Temporarily {
 public:
  Temporarily(T& variable, T value) : variable_(variable), old_(std::exchange(variable, std::move(value))) {}
  ~Temporarily() { variable_ = std::move(old_); }
  Temporarily(const Temporarily&) = delete;
  Temporarily& operator=(const Temporarily&) = delete;

 private:
  T& variable_;
  T old_;
};

// A graph that nodes are emitted into: the network's, or that of a body which is run later.
struct OnnxFrame {
  Graph* graph = nullptr;
  ImportBuilder* builder = nullptr;
  std::map<PortRef, PortRef> captures;  // tensors of the graph around it -> the body's Parameters for them
  std::vector<PortRef> captured;        // in the order of the Parameters
};

// What read_body makes: the graph, and which tensors of the graph around it are its last Parameters.
struct OnnxBody {
  std::shared_ptr<Graph> graph;
  std::vector<PortRef> captured;
  std::size_t own_parameters = 0;  // those in front, which stand for the ONNX body's inputs
};

// What is known of a body's input before it runs.
struct OnnxBodyInput {
  ElementType type = ElementType::f32;
  PartialShape shape;
};

// A name's tensor; nothing where the node that should make it was refused.
using OnnxValue = std::optional<PortRef>;

// The names that are visible inside one graph or function body.
struct OnnxScope {
  OnnxScope* parent = nullptr;  // the graph around this one; null for a function
  OnnxFrame* frame = nullptr;   // where its nodes go
  std::string prefix;           // of node names
  bool is_main = false;         // tensor names are kept in the main graph alone: bodies may be repeated
  std::map<std::string_view, std::int64_t> opsets;
  const std::vector<OnnxAttribute>* arguments = nullptr;  // of the call of a function, else null
  const std::vector<OnnxAttribute>* defaults = nullptr;
  std::unordered_map<std::string_view, OnnxValue> values;
  std::unordered_map<std::string_view, const OnnxTensor*> initializers;  // that no node has read yet
  std::unordered_map<std::string_view, const OnnxValueInfo*> value_infos;
};

// What a converter throws where a node of a body was refused: the refusal is on the list already.
inline constexpr const char* kRefusedInside = "";
// Functions and bodies inside each other.
inline constexpr int kMaxCallDepth = 48;

// The names of a graph's outputs, and the opsets by domain; throws kUnsupported for an opset that is not known.
std::vector<std::string_view> output_names(const OnnxGraph& graph);
// What the file says of a shape, unchecked; a negative or named dimension is open.
PartialShape declared_shape(const OnnxValueInfo& info);
std::map<std::string_view, std::int64_t> opset_map(const std::vector<OnnxOpset>& opsets);

// Reads one model. Not thread-safe.
class OnnxReader {
 public:
  OnnxReader(const OnnxModel& model, Graph& graph)
      : model_(model), main_builder_(graph), main_frame_{&graph, &main_builder_, {}, {}}, tensors_(model) {}

  void read();

  // Of the graph that the node being converted goes to.
  ImportBuilder& builder() { return *frame_->builder; }
  OnnxTensors& tensors() { return tensors_; }

  // For converters of nodes with bodies: emits the body's nodes into the graph with `inputs` for its inputs (no more
  // than it has), and returns its outputs.
  std::vector<PortRef> inline_graph(const OnnxGraph& body, const std::vector<PortRef>& inputs);

  // Changes what a body takes or gives, while it is read: emits nodes through builder().
  using OnnxEdit = std::function<std::vector<PortRef>(std::vector<PortRef>)>;
  // Reads a body as a graph of its own. `inputs` says what its inputs are; what it reads of the graph around it becomes
  // further Parameters, constants are copied. The edits lie between the Parameters and what the body sees, and between
  // what it gives and the Results.
  OnnxBody read_body(const OnnxGraph& body, const std::vector<OnnxBodyInput>& inputs, const OnnxEdit& edit_inputs = {},
                     const OnnxEdit& edit_outputs = {});

 private:
  void add_parameters(OnnxScope& scope);
  void add_results(OnnxScope& scope);
  void declare(const OnnxGraph& graph, OnnxScope& scope);
  void convert_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs, OnnxScope& scope);
  void convert_node(const OnnxNode& node, OnnxScope& scope);
  std::vector<OnnxValue> run_converter(const OnnxNode& node, OnnxScope& scope,
                                       const std::vector<std::optional<PortRef>>& inputs);
  std::vector<OnnxValue> call_function(const OnnxFunction& function, const OnnxNode& node, OnnxScope& scope,
                                       const std::vector<std::optional<PortRef>>& inputs);
  const OnnxFunction* find_function(const OnnxNode& node) const;
  void keep_names(const OnnxNode& node, const std::vector<OnnxValue>& outputs, std::int32_t first_new,
                  const OnnxScope& scope);
  OnnxValue look_up(std::string_view name, OnnxScope& scope);
  OnnxValue read_initializer(const OnnxTensor& tensor, std::string_view name, OnnxScope& scope);
  PortRef capture(PortRef outer, OnnxScope& scope);
  std::vector<PortRef> body_outputs(const OnnxGraph& body, OnnxScope& scope);
  OnnxScope body_scope();
  bool is_visible(std::string_view name, const OnnxScope& scope) const;
  void count_node(const OnnxNode& node);

  const OnnxModel& model_;
  ImportBuilder main_builder_;
  OnnxFrame main_frame_;
  OnnxFrame* frame_ = &main_frame_;
  OnnxTensors tensors_;
  Refusals refusals_;
  OnnxScope* scope_ = nullptr;  // of the node that is converted now
  std::string node_path_;       // its name with all prefixes
  std::string node_type_;
  int depth_ = 0;               // of functions and bodies
  std::size_t node_count_ = 0;  // converted so far
};

// "node 'NAME' (TYPE)", for messages.
std::string onnx_node_text(const OnnxNode& node);

// Indices of the nodes that `outputs` need, in the order in which they are converted; see order_nodes.
std::vector<std::size_t> order_onnx_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs,
                                          const std::function<bool(std::string_view)>& is_outside);

}  // namespace headrace::detail
