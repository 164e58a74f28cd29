// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "ops/descriptor.hpp"
#include "ops/strided.hpp"
#include "partition/is_computed.hpp"

namespace headrace {
namespace {

TensorDesc row_major_desc(const OutputInfo& info) {
  HEADRACE_ASSERT(info.is_resolved, "partition needs resolved shapes");
  TensorDesc desc;
  desc.type = info.type;
  desc.shape = info.shape;
  desc.strides = row_major_strides(info.shape);
  return desc;
}

// A node's tensors in the form that operators are asked with; made once for all devices.
struct NodeTensors {
  std::vector<LowerInput> inputs;
  std::vector<TensorDesc> outputs;
};

NodeTensors tensors_of(const Graph& graph, const Node& node) {
  NodeTensors tensors;
  for (const PortRef& input : node.inputs) {
    const Node& producer = graph.at(input);
    tensors.inputs.push_back({row_major_desc(graph.info(input)), producer.type == "Const" ? &producer.value : nullptr});
  }
  for (const OutputInfo& output : node.outputs) tensors.outputs.push_back(row_major_desc(output));
  return tensors;
}

// One buffer per tensor: a device cannot hold one that is larger than its largest allocation.
Support fits_memory(const NodeTensors& tensors, const KernelCaps& caps) {
  if (caps.max_alloc_bytes == 0) return Support::yes();
  std::vector<TensorDesc> all = tensors.outputs;
  for (const LowerInput& input : tensors.inputs) all.push_back(input.desc);
  for (const TensorDesc& desc : all) {
    const std::size_t bytes = static_cast<std::size_t>(desc.count()) * size_bytes(desc.type);
    if (bytes > caps.max_alloc_bytes) {
      return Support::no("a tensor of shape " + to_string(desc.shape) + " has " + std::to_string(bytes) +
                         " bytes, the device allows " + std::to_string(caps.max_alloc_bytes));
    }
  }
  return Support::yes();
}

Support ask(const Node& node, const NodeTensors& tensors, const PartitionDevice& device) {
  const OpDescriptor* op = find_op(node.type);
  if (op == nullptr) return Support::no("unknown operator");
  if (device.is_cpu_fallback) return op->reference != nullptr ? Support::yes() : Support::no("no host form");
  if (op->supports == nullptr || op->lower == nullptr) return Support::no("no OpenCL form");
  const Support memory = fits_memory(tensors, device.caps);
  return memory.ok ? op->supports(node, tensors.inputs, tensors.outputs, device.caps) : memory;
}

// Fills refusals and device; returns false where every device refuses.
bool place(const Graph& graph, const Node& node, std::span<const PartitionDevice> devices,
           const PartitionOptions& options, Placement& placement) {
  const NodeTensors tensors = tensors_of(graph, node);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Support support = Support::no("the CPU is not allowed here");
    if (!devices[i].is_cpu_fallback || !options.strict) support = ask(node, tensors, devices[i]);
    if (support.ok) {
      placement.device = i;
      return true;
    }
    placement.refusals.push_back({i, std::move(support.reason)});
  }
  return false;
}

struct Refused {
  NodeId first;
  std::vector<Refusal> refusals;
  std::size_t count = 0;
};

[[noreturn]] void fail_refused(const Graph& graph, std::span<const PartitionDevice> devices, const Refused& refused) {
  const Node& node = graph.at(refused.first);
  std::string message = "layer '" + node.name + "' (" + node.source_type + ") cannot run";
  for (std::size_t i = 0; i < refused.refusals.size(); ++i) {
    message +=
        (i == 0 ? " on " : "; on ") + devices[refused.refusals[i].device].name + ": " + refused.refusals[i].reason;
  }
  if (refused.count > 1) message += "; " + std::to_string(refused.count) + " layers are refused in all";
  const bool has_fallback =
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.is_cpu_fallback; });
  if (!has_fallback) message += "; add CPU to the device list to run them there (HETERO:...,CPU)";
  fail(ErrorCode::kUnsupported, message);
}

std::map<NodeId, std::size_t> devices_of(const Partition& result) {
  std::map<NodeId, std::size_t> device_of;
  for (const auto& [id, placement] : result.placements) device_of[id] = placement.device;
  return device_of;
}

std::int64_t flops_of(const Graph& graph, const Subgraph& subgraph) {
  std::int64_t flops = 0;
  for (const NodeId id : subgraph.nodes) {
    const Node& node = graph.at(id);
    const OpDescriptor* op = find_op(node.type);
    std::vector<InferInput> inputs;
    for (const PortRef& input : node.inputs)
      inputs.push_back({graph.info(input).type, graph.info(input).shape, nullptr});
    inputs.resize(count_op_inputs(node));
    std::vector<InferOutput> outputs;
    for (const OutputInfo& output : node.outputs) outputs.push_back({output.type, output.shape});
    // Operators without a cost of their own do about one operation per element.
    if (op != nullptr && op->cost != nullptr) {
      flops += op->cost(node, inputs, outputs).flops;
    } else {
      for (const InferOutput& output : outputs) flops += count_elems(output.shape);
    }
  }
  return flops;
}

// Whether every tensor that the subgraph exchanges with other subgraphs comes from or goes to the fallback, both ways.
bool is_island(const Graph& graph, const UserMap& users, const Partition& result, const Subgraph& subgraph,
               std::size_t fallback) {
  std::size_t from_fallback = 0;
  std::size_t to_fallback = 0;
  for (const PortRef& input : subgraph.inputs) {
    const auto producer = result.placements.find(input.node);
    if (producer == result.placements.end()) continue;  // a Parameter
    if (producer->second.device != fallback) return false;
    ++from_fallback;
  }
  for (const PortRef& output : subgraph.outputs) {
    for (const Graph::User& user : users.of(output)) {
      if (!is_computed(graph.at(user.node))) continue;
      const Placement& reader = result.placements.at(user.node);
      const bool is_inside = reader.subgraph == result.placements.at(output.node).subgraph;
      if (!is_inside && reader.device != fallback) return false;
      to_fallback += is_inside ? 0U : 1U;
    }
  }
  return from_fallback != 0 && to_fallback != 0;
}

void record_subgraphs(const Graph& graph, Partition& result) {
  result.subgraphs = cut_subgraphs(graph, devices_of(result));
  for (std::size_t i = 0; i < result.subgraphs.size(); ++i) {
    for (const NodeId id : result.subgraphs[i].nodes) result.placements.at(id).subgraph = i;
  }
}

void sink_islands(const Graph& graph, std::span<const PartitionDevice> devices, std::int64_t max_flops,
                  Partition& result) {
  const auto found = std::find_if(devices.begin(), devices.end(), [](const auto& d) { return d.is_cpu_fallback; });
  if (found == devices.end()) return;
  const auto fallback = static_cast<std::size_t>(found - devices.begin());
  const UserMap users(graph);
  bool has_changed = false;
  for (const Subgraph& subgraph : result.subgraphs) {
    if (subgraph.device >= fallback || !is_island(graph, users, result, subgraph, fallback)) continue;
    if (flops_of(graph, subgraph) > max_flops) continue;
    for (const NodeId id : subgraph.nodes) {
      Placement& placement = result.placements.at(id);
      for (std::size_t i = placement.device; i < fallback; ++i) {
        placement.refusals.push_back({i, "an island of " + std::to_string(subgraph.nodes.size()) +
                                             " cheap layers between CPU layers is not worth the transfers"});
      }
      placement.device = fallback;
    }
    has_changed = true;
  }
  if (has_changed) record_subgraphs(graph, result);
}

}  // namespace

Partition partition(const Graph& graph, std::span<const PartitionDevice> devices, const PartitionOptions& options) {
  check(!devices.empty(), ErrorCode::kInvalidArgument, "no device is given to run the network on");
  Partition result;
  for (const PartitionDevice& device : devices) result.device_names.push_back(device.name);
  Refused refused;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.at(id);
    if (!is_computed(node)) continue;
    Placement placement;
    if (place(graph, node, devices, options, placement)) {
      result.placements.emplace(id, std::move(placement));
    } else if (++refused.count == 1) {
      refused.first = id;
      refused.refusals = std::move(placement.refusals);
    }
  }
  if (refused.count != 0) fail_refused(graph, devices, refused);
  record_subgraphs(graph, result);
  if (options.island_max_flops > 0) sink_islands(graph, devices, options.island_max_flops, result);
  return result;
}

}  // namespace headrace
