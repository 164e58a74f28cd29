// SPDX-License-Identifier: Apache-2.0
// From a subgraph to an immutable DevicePlan: layouts, views, lowering, memory.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "device/device.hpp"
#include "graph/graph.hpp"
#include "plan/weights_cache.hpp"

namespace headrace {

// One subgraph with resolved shapes, as partition gives it.
struct PlanRequest {
  const Graph& graph;
  std::span<const NodeId> nodes;     // topological order; without Const, Parameter and Result
  std::span<const PortRef> inputs;   // tensors from outside, constants excepted
  std::span<const PortRef> outputs;  // tensors wanted outside, each once; none is a constant or an input
  const KernelCaps& caps;            // of the device that will run it; kCpuFallback gives host calls
};

struct PlanStats {
  std::size_t arena_bytes = 0;
  std::size_t lower_bound_bytes = 0;  // peak of the bytes that are live at once
  std::size_t weights_bytes = 0;
  std::size_t copies = 0;  // layout conversions that were placed
  std::size_t views = 0;   // tensors that alias another's memory
};

// Lowers every node for the device. Ports and buffers of the result: buffers[0] is the arena; every input and output
// has a buffer of its own, so that a session can put the user's memory in its place.
// Throws kUnsupported naming the layer where its operator refuses (partition should have asked before).
std::shared_ptr<const DevicePlan> make_device_plan(const PlanRequest& request, WeightsCache& weights,
                                                   PlanStats* stats = nullptr);

// One line per step with kernel, sizes and buffers; stable between runs.
std::string dump(const DevicePlan& plan);

}  // namespace headrace
