// SPDX-License-Identifier: Apache-2.0
// The walk over an ONNX model: names, order, functions and nested graphs. Converters see it through OnnxContext.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/onnx_builder.hpp"
#include "formats/onnx/onnx_file.hpp"
#include "formats/onnx/onnx_tensor.hpp"

namespace headrace::detail {

// What has to be refused, collected so that one error tells the user all of it.
class OnnxRefusals {
 public:
  void add(const std::string& what, std::string_view node);
  void throw_if_any() const;

 private:
  struct Item {
    std::string what;
    std::string node;  // the first one's name
    std::size_t count = 0;
  };
  std::vector<Item> items_;
  std::map<std::string, std::size_t> index_;
};

// A name's tensor; nothing where the node that should make it was refused.
using OnnxValue = std::optional<PortRef>;

// The names that are visible inside one graph or function body.
struct OnnxScope {
  const OnnxScope* parent = nullptr;  // the graph around this one; null for a function
  std::string prefix;                 // of node names
  bool is_main = false;               // tensor names are kept in the main graph alone: bodies may be repeated
  std::map<std::string_view, std::int64_t> opsets;
  const std::vector<OnnxAttribute>* arguments = nullptr;  // of the call of a function, else null
  const std::vector<OnnxAttribute>* defaults = nullptr;
  std::unordered_map<std::string_view, OnnxValue> values;
  std::unordered_map<std::string_view, const OnnxTensor*> initializers;  // that no node has read yet
  std::unordered_map<std::string_view, const OnnxValueInfo*> value_infos;
};

// Reads one model. Not thread-safe.
class OnnxReader {
 public:
  OnnxReader(const OnnxModel& model, Graph& graph) : model_(model), builder_(graph), tensors_(model) {}

  void read();

  OnnxBuilder& builder() { return builder_; }
  OnnxTensors& tensors() { return tensors_; }

  // For converters of nodes with bodies: emits the body's nodes into the graph with `inputs` for its inputs (no more
  // than it has), and returns its outputs.
  std::vector<PortRef> inline_graph(const OnnxGraph& body, const std::vector<PortRef>& inputs);

 private:
  void add_parameters(OnnxScope& scope);
  void add_results(const OnnxScope& scope);
  PortRef named_output(std::string_view name, PortRef ref);
  void declare(const OnnxGraph& graph, OnnxScope& scope);
  void convert_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs, OnnxScope& scope);
  void convert_node(const OnnxNode& node, OnnxScope& scope);
  std::vector<OnnxValue> run_converter(const OnnxNode& node, OnnxScope& scope,
                                       const std::vector<std::optional<PortRef>>& inputs);
  std::vector<OnnxValue> call_function(const OnnxFunction& function, const OnnxNode& node, const OnnxScope& scope,
                                       const std::vector<std::optional<PortRef>>& inputs);
  const OnnxFunction* find_function(const OnnxNode& node) const;
  void keep_names(const OnnxNode& node, const std::vector<OnnxValue>& outputs, std::int32_t first_new,
                  const OnnxScope& scope);
  OnnxValue look_up(std::string_view name, OnnxScope& scope);
  bool is_visible(std::string_view name, const OnnxScope& scope) const;
  void count_node(const OnnxNode& node);

  const OnnxModel& model_;
  OnnxBuilder builder_;
  OnnxTensors tensors_;
  OnnxRefusals refusals_;
  OnnxScope* scope_ = nullptr;  // of the node that is converted now
  std::string node_path_;       // its name with all prefixes
  int depth_ = 0;               // of functions and bodies
  std::size_t node_count_ = 0;  // converted so far
};

// "node 'NAME' (TYPE)", for messages.
std::string onnx_node_text(const OnnxNode& node);

// Indices of the nodes that `outputs` need, producers before users and otherwise in the file's order. `is_outside`
// says whether a name comes from outside the nodes. Throws kBadModel naming a missing tensor, one that two nodes make,
// or the nodes of a cycle.
std::vector<std::size_t> order_onnx_nodes(std::span<const OnnxNode> nodes, std::span<const std::string_view> outputs,
                                          const std::function<bool(std::string_view)>& is_outside);

}  // namespace headrace::detail
