// SPDX-License-Identifier: Apache-2.0
// Collects steps over storages, then gives every storage its place and turns the whole into a DevicePlan.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ops/descriptor.hpp"
#include "plan/plan.hpp"

namespace headrace::detail {

// A block of memory before it has a place; index into PlanBuilder's storages.
using StorageId = std::int32_t;

// A tensor at strided places of a storage.
struct Place {
  StorageId storage = -1;
  TensorDesc desc;
};

// Where the operands of one node's launches live.
struct NodeStorages {
  std::vector<StorageId> inputs;
  std::vector<StorageId> outputs;
  std::vector<StorageId> constants;
  std::vector<StorageId> scratch;
};

class PlanBuilder {
 public:
  PlanBuilder();

  StorageId add_arena_storage(std::size_t size_bytes);
  // A buffer of its own with fixed contents; equal data pointers share one.
  StorageId add_constant(const Tensor& value, const std::string& name);
  // The same for packed weights, which finish() makes, on all cores. Equal keys share one. `source_bytes` tells the
  // long work from the short.
  StorageId add_packed_constant(const std::string& key, const std::string& name, std::size_t source_bytes,
                                std::function<Tensor()> make);
  StorageId add_port(const std::string& name, ElementType type, const Shape& shape, bool is_input);

  // Adds the node's launches as steps; flops and bytes go to the first one.
  void add_launches(const Node& node, const std::string& layer, const Lowered& lowered, const NodeStorages& storages,
                    const Cost& cost);
  // Adds a host call; operands are dense row-major.
  void add_host_call(const Node& node, const std::string& kernel, HostCall call, const Cost& cost);

  // Throws what making a packed constant throws.
  std::shared_ptr<const DevicePlan> finish(PlanStats* stats);

 private:
  struct Storage {
    bool is_arena = true;
    std::int32_t buffer = -1;  // plan buffer, where not in the arena
    std::size_t size_bytes = 0;
    std::int32_t first = std::numeric_limits<std::int32_t>::max();
    std::int32_t last = -1;
  };

  struct PackedWork {
    std::size_t buffer = 0;
    std::size_t source_bytes = 0;
    std::function<Tensor()> make;
  };

  StorageId add_buffer(PlanBuffer buffer);
  void make_packed_constants();
  void touch(StorageId storage);
  BufferRef resolved(const BufferRef& draft, const std::vector<std::size_t>& arena_offsets) const;
  Launch make_launch(const KernelLaunch& kernel, const NodeStorages& storages);

  std::shared_ptr<DevicePlan> plan_;
  std::vector<Storage> storages_;
  std::map<const std::byte*, StorageId> constants_;
  std::map<std::string, StorageId> packed_constants_;
  std::vector<PackedWork> packed_work_;
};

}  // namespace headrace::detail
