// SPDX-License-Identifier: Apache-2.0
// Emits IR operators into a Graph and keeps what is known of every tensor while a model is read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/tensor.hpp"
#include "formats/import/known_tensor.hpp"
#include "graph/graph.hpp"
#include "ops/descriptor.hpp"

namespace headrace::detail {

// Not thread-safe.
class ImportBuilder {
 public:
  explicit ImportBuilder(Graph& graph) : graph_(graph) {}
  // For the graph of a body: unknown dimensions are tried with the same numbers as in the graph around it.
  ImportBuilder(Graph& graph, const ImportBuilder& outer)
      : graph_(graph), trial_dimensions_(outer.trial_dimensions_), is_dynamic_(outer.is_dynamic_) {}

  // Names what is emitted from now on: helpers of one ONNX node are "NAME/Type", made unique.
  void begin_node(std::string_view name, std::string_view source_type);

  // Emits a node of IR's type `type`, with attributes as IR's text, and returns its first output.
  // Throws kUnsupported where there is no such operator, kBadModel where it refuses the attributes.
  PortRef add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
              const RawAttributes& attributes = {}, std::size_t output_count = 1);
  // The same for nodes that have bodies and no attributes.
  PortRef add_with_bodies(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                          std::vector<Body> bodies, std::size_t output_count);
  PortRef add_constant(const Tensor& value);
  PortRef add_parameter(std::string_view name, ElementType type, const PartialShape& shape);
  void add_result(std::string_view name, PortRef source);
  // Makes a tensor an output of the network: a Result on a tensor whose first name is `name`. Two outputs on one
  // tensor, and an output that is an input or a constant, get a tensor of their own.
  void add_output(std::string_view name, PortRef source);

  const KnownTensor& known(PortRef ref) const;
  // Fills in what inference could not tell: the file's own word.
  void add_knowledge(PortRef ref, std::optional<ElementType> type, const std::optional<PartialShape>& shape,
                     std::span<const std::string_view> dim_names);

  // Takes over what the builder of another graph knows of a tensor.
  void copy_knowledge(PortRef ref, const KnownTensor& known) { slot(ref) = known; }

  // The numbers that stand for an unknown dimension; equal names get equal numbers.
  std::array<std::int64_t, 2> trial_dimension(std::string_view name, const Dimension& dimension);

  // Writes the element types that are known into the graph, for who asks before shapes are inferred.
  void store_types();

  Graph& graph() { return graph_; }
  // Nodes that are added from now on have at least this id.
  std::int32_t next_id() const { return next_id_; }
  // Makes a name that no other node of the graph has.
  std::string unique_name(std::string name);

 private:
  PortRef add_operator(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                       const RawAttributes& attributes, std::vector<Body> bodies, std::size_t output_count);
  PortRef named_output(std::string_view name, PortRef ref);
  KnownTensor& slot(PortRef ref);
  void infer(const Node& node);
  void infer_trial(const Node& node, const OpDescriptor& op, std::size_t trial);
  void mark_accidental(const Node& node);
  void guess(const Node& node);

  Graph& graph_;
  std::int32_t next_id_ = 0;
  std::string node_name_;
  std::string source_type_;
  std::unordered_set<std::string> names_;
  std::map<std::int32_t, std::vector<KnownTensor>> known_;  // by node
  std::map<std::string, std::array<std::int64_t, 2>, std::less<>> trial_dimensions_;
  bool is_dynamic_ = false;  // a size that is not known was met: the second trial counts
};

}  // namespace headrace::detail
