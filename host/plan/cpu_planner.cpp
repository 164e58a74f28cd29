// SPDX-License-Identifier: Apache-2.0
#include "plan/cpu_planner.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "device/cpu/host_calls.hpp"
#include "ops/descriptor.hpp"
#include "ops/strided.hpp"
#include "plan/plan_builder.hpp"

namespace headrace::detail {
namespace {

TensorDesc row_major_desc(const OutputInfo& info) { return {info.type, info.shape, row_major_strides(info.shape), 0}; }

std::size_t bytes_of(const OutputInfo& info) {
  return static_cast<std::size_t>(count_elems(info.shape)) * size_bytes(info.type);
}

// Dense row-major tensors keep their bytes under these operators: the output is the input's memory.
bool is_reshaping(const Node& node) {
  return node.type == "Reshape" || node.type == "Squeeze" || node.type == "Unsqueeze";
}

class CpuPlanner {
 public:
  explicit CpuPlanner(const PlanRequest& request) : request_(request) {}

  std::shared_ptr<const DevicePlan> run(PlanStats* stats) {
    for (const PortRef& input : request_.inputs) storages_[input] = add_port(input, true);
    std::vector<std::pair<PortRef, StorageId>> reshaped;  // outputs that alias a tensor inside: copied at the end
    for (const PortRef& output : request_.outputs) {
      const StorageId port = add_port(output, false);
      if (is_reshaping(request_.graph.at(output))) {
        reshaped.emplace_back(output, port);
      } else {
        storages_[output] = port;
      }
    }
    for (const NodeId id : request_.nodes) plan_node(request_.graph.at(id));
    for (const auto& [output, port] : reshaped) copy_out(output, port);
    return builder_.finish(stats);
  }

 private:
  StorageId add_port(PortRef ref, bool is_input) {
    const OutputInfo& info = request_.graph.info(ref);
    const std::string& name = info.names.empty() ? request_.graph.at(ref).name : info.names.front();
    return builder_.add_port(name, info.type, info.shape, is_input);
  }

  StorageId storage_of(PortRef ref) {
    const Node& node = request_.graph.at(ref);
    if (node.type == "Const") return builder_.add_constant(aligned_constant(node), "constant '" + node.name + "'");
    return storages_.at(ref);
  }

  // One copy per constant, so that the builder sees one address for it.
  const Tensor& aligned_constant(const Node& node) {
    const auto found = aligned_.find(node.id);
    if (found != aligned_.end()) return found->second;
    return aligned_.emplace(node.id, node.value.aligned_copy()).first->second;
  }

  HostOperand operand(PortRef ref) {
    const OutputInfo& info = request_.graph.info(ref);
    return {{storage_of(ref), 0}, info.type, info.shape};
  }

  void plan_node(const Node& node) {
    if (is_reshaping(node) && !is_const(request_.graph, node.inputs[0])) {
      storages_[{node.id, 0}] = storages_.at(node.inputs[0]);
      return;
    }
    HostCall call;
    std::vector<LowerInput> inputs;
    std::vector<TensorDesc> outputs;
    bool is_empty = true;
    for (const PortRef& ref : node.inputs) {
      const Node& source = request_.graph.at(ref);
      const bool is_constant = source.type == "Const";
      inputs.push_back({row_major_desc(request_.graph.info(ref)), is_constant ? &aligned_constant(source) : nullptr});
      call.inputs.push_back(operand(ref));
    }
    for (std::size_t port = 0; port < node.outputs.size(); ++port) {
      const PortRef ref{node.id, static_cast<std::int32_t>(port)};
      const OutputInfo& info = node.outputs[port];
      if (storages_.count(ref) == 0) storages_[ref] = builder_.add_arena_storage(bytes_of(info));
      outputs.push_back(row_major_desc(info));
      call.outputs.push_back(operand(ref));
      is_empty = is_empty && count_elems(info.shape) == 0;
    }
    if (is_empty) return;
    HostFunction host = make_host_function(node, inputs, outputs);
    call.function = std::move(host.function);
    builder_.add_host_call(node, host.label, std::move(call), cost_of(node, inputs, outputs));
  }

  void copy_out(PortRef output, StorageId port) {
    HostCall call;
    call.inputs.push_back(operand(output));
    call.outputs.push_back(call.inputs[0]);
    call.outputs[0].ref = {port, 0};
    call.function = [](std::span<const Tensor> inputs, std::span<Tensor> outputs) {
      std::copy_n(inputs[0].data(), inputs[0].size_bytes(), outputs[0].mutable_data());
    };
    builder_.add_host_call(request_.graph.at(output), "copy", std::move(call), {});
  }

  static Cost cost_of(const Node& node, const std::vector<LowerInput>& inputs, const std::vector<TensorDesc>& outputs) {
    const OpDescriptor* op = find_op(node.type);
    if (op->cost == nullptr) return {};
    std::vector<InferInput> infer_inputs;
    std::vector<InferOutput> infer_outputs;
    for (std::size_t i = 0; i < count_op_inputs(node); ++i) {
      infer_inputs.push_back({inputs[i].desc.type, inputs[i].desc.shape, inputs[i].constant});
    }
    for (const TensorDesc& output : outputs) infer_outputs.push_back({output.type, output.shape});
    return op->cost(node, infer_inputs, infer_outputs);
  }

  const PlanRequest& request_;
  PlanBuilder builder_;
  std::map<PortRef, StorageId> storages_;
  std::map<NodeId, Tensor> aligned_;
};

}  // namespace

std::shared_ptr<const DevicePlan> plan_for_cpu(const PlanRequest& request, PlanStats* stats) {
  return CpuPlanner(request).run(stats);
}

}  // namespace headrace::detail
