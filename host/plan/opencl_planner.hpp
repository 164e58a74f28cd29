// SPDX-License-Identifier: Apache-2.0
// Plans a subgraph for an OpenCL device: orders, views, conversions, launches.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ops/descriptor.hpp"
#include "plan/plan.hpp"
#include "plan/plan_builder.hpp"

namespace headrace::detail {

// What every node's tensors would look like if each had memory of its own: decides dimension orders and views before
// any storage exists, because a Concat's buffer must be known before the tensors that are written into it.
struct NominalLayouts {
  std::map<PortRef, TensorDesc> descs;
  std::set<PortRef> views;  // outputs that alias their node's first input
};

NominalLayouts make_nominal_layouts(const PlanRequest& request);

// Strides of a dense tensor whose dimensions lie in memory in the same order as the model's.
std::vector<std::int64_t> strides_in_order_of(const TensorDesc& model, const Shape& shape);
// Whether two tensors of equal shape lie in the same dimension order.
bool is_same_order(const TensorDesc& a, const TensorDesc& b);

// A tensor that is written straight into its Concat's memory.
struct Slice {
  PortRef concat;
  std::size_t axis = 0;
  std::int64_t position = 0;  // along the axis
};

std::map<PortRef, Slice> find_concat_slices(const PlanRequest& request, const NominalLayouts& nominal);

LayoutRules layout_rules(const Node& node, const KernelCaps& caps);
LayoutRule input_rule(const LayoutRules& rules, std::size_t index);

class OpenclPlanner {
 public:
  OpenclPlanner(const PlanRequest& request, WeightsCache& weights);
  std::shared_ptr<const DevicePlan> run(PlanStats* stats);

 private:
  struct NodeOperands {
    std::vector<LowerInput> inputs;
    std::vector<TensorDesc> outputs;
    NodeStorages storages;
  };

  void place_inputs();
  void choose_port_tensors();
  void plan_node(const Node& node);
  bool plan_views(const Node& node);
  void plan_concat(const Node& node);
  void write_outputs();

  Place place_of(PortRef ref);
  const Place& allocate(PortRef ref);
  NodeOperands operands_of(const Node& node, const OpDescriptor& op);
  Place in_order(PortRef ref, LayoutRule rule, const Node& user);
  void copy(const Node& node, const std::string& layer, const Place& from, const Place& to);
  void add_packed_constants(const Node& node, const Lowered& lowered, NodeStorages& storages);
  std::string packing_context(const Node& node) const;
  Cost cost_of(const Node& node, const OpDescriptor& op) const;

  const PlanRequest& request_;
  WeightsCache& weights_;
  PlanBuilder builder_;
  NominalLayouts nominal_;
  std::map<PortRef, Slice> slices_;
  std::map<PortRef, Place> places_;
  std::map<PortRef, StorageId> port_storages_;  // tensors that live in an output port's buffer
  std::map<PortRef, StorageId> output_ports_;
  std::map<std::pair<PortRef, LayoutRule>, Place> converted_;
  PlanStats counts_;
};

}  // namespace headrace::detail
