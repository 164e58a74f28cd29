// SPDX-License-Identifier: Apache-2.0
// The walk over a TensorFlow graph: names, order, functions. Converters see it through TensorflowContext.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/import/import_builder.hpp"
#include "formats/import/refusals.hpp"
#include "formats/tensorflow/tensorflow_file.hpp"
#include "formats/tensorflow/tensorflow_value.hpp"

namespace headrace::detail {

// One of a node's inputs, as its text says.
struct TensorflowInput {
  std::string_view node;
  std::string_view output;  // in functions: the name of one of the node's outputs
  std::int32_t index = 0;   // of the output; where it has a name, within what the name stands for
  bool is_control = false;
};

// Parses "a", "a:1", "a:output:1", "^a". Throws kBadModel where the number is none.
TensorflowInput parse_tensorflow_input(std::string_view text);

// The index of a function node's output from its name in the operator's definition ("y" and 0 of FusedBatchNorm are 0).
std::int32_t tensorflow_output_index(std::string_view op, std::string_view output, std::int32_t index);

// Whether an unread node of this type is an output of the graph.
bool is_tensorflow_sink(std::string_view op);

// "node 'NAME' (OP)", for messages.
std::string tensorflow_node_text(const TensorflowNode& node);

// The names that are visible in the graph or in one call of a function.
struct TensorflowScope {
  std::string prefix;  // of node names
  bool is_main = false;
  std::unordered_map<std::string_view, const TensorflowNode*> nodes;
  std::unordered_map<std::string_view, TensorflowValues> values;  // by node or argument
};

// What a converter throws where a node of a function was refused: the refusal is on the list already.
inline constexpr const char* kTensorflowRefusedInside = "";

// Reads one model. Not thread-safe.
class TensorflowReader {
 public:
  TensorflowReader(const TensorflowModel& model, std::size_t size_bytes, Graph& graph);

  void read();

  ImportBuilder& builder() { return builder_; }
  Tensor read_tensor(const TensorflowTensor& tensor);
  bool has_function(std::string_view name) const { return functions_.count(name) != 0; }
  // For converters of nodes that call a function: emits its nodes in place and returns its outputs.
  TensorflowValues call(std::string_view function, const TensorflowValues& inputs);

 private:
  std::vector<const TensorflowNode*> find_outputs() const;
  void add_parameters(TensorflowScope& scope, std::span<const std::size_t> order);
  void add_parameter(const TensorflowNode& node, TensorflowScope& scope);
  void add_results(const std::vector<const TensorflowNode*>& outputs, TensorflowScope& scope);
  std::vector<std::size_t> order(std::span<const TensorflowNode> nodes, std::span<const std::string_view> outputs,
                                 const TensorflowScope& scope) const;
  void convert_node(const TensorflowNode& node, TensorflowScope& scope);
  TensorflowValues run_converter(const TensorflowNode& node, TensorflowScope& scope, const TensorflowValues& inputs);
  void keep_names(const TensorflowNode& node, const TensorflowValues& outputs, std::int32_t first_new,
                  const TensorflowScope& scope);
  TensorflowValue look_up(const TensorflowInput& input, const TensorflowScope& scope) const;
  void count_node(const TensorflowNode& node);

  const TensorflowModel& model_;
  ImportBuilder builder_;
  Refusals refusals_;
  std::map<std::string_view, const TensorflowFunction*> functions_;
  std::string node_path_;  // of the node that is converted now, with all prefixes
  std::int64_t fillable_;  // see read_tensorflow_tensor
  int depth_ = 0;          // of calls
  std::size_t node_count_ = 0;
};

}  // namespace headrace::detail
