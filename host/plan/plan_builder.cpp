// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_builder.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "plan/memory_plan.hpp"

namespace headrace::detail {
namespace {

StorageId storage_of(const Operand& operand, const NodeStorages& storages) {
  const auto index = static_cast<std::size_t>(operand.index);
  switch (operand.kind) {
    case Operand::Kind::kNull: return -1;
    case Operand::Kind::kInput: return storages.inputs.at(index);
    case Operand::Kind::kOutput: return storages.outputs.at(index);
    case Operand::Kind::kConstant: return storages.constants.at(index);
    case Operand::Kind::kScratch: return storages.scratch.at(index);
  }
  return -1;
}

}  // namespace

PlanBuilder::PlanBuilder() : plan_(std::make_shared<DevicePlan>()) { plan_->buffers.push_back({0, {}, "arena"}); }

StorageId PlanBuilder::add_arena_storage(std::size_t size_bytes) {
  Storage storage;
  storage.size_bytes = size_bytes;
  storages_.push_back(storage);
  return static_cast<StorageId>(storages_.size()) - 1;
}

// Memory of its own, outside the arena.
StorageId PlanBuilder::add_buffer(PlanBuffer buffer) {
  Storage storage;
  storage.is_arena = false;
  storage.size_bytes = buffer.size_bytes;
  storage.buffer = static_cast<std::int32_t>(plan_->buffers.size());
  plan_->buffers.push_back(std::move(buffer));
  storages_.push_back(storage);
  return static_cast<StorageId>(storages_.size()) - 1;
}

StorageId PlanBuilder::add_constant(const Tensor& value, const std::string& name) {
  const auto found = constants_.find(value.data());
  if (found != constants_.end()) return found->second;
  const StorageId id = add_buffer({value.size_bytes(), value, name});
  constants_.emplace(value.data(), id);
  return id;
}

StorageId PlanBuilder::add_packed_constant(const std::string& key, const std::string& name, std::size_t source_bytes,
                                           std::function<Tensor()> make) {
  const auto found = packed_constants_.find(key);
  if (found != packed_constants_.end()) return found->second;
  packed_work_.push_back({plan_->buffers.size(), source_bytes, std::move(make)});
  const StorageId id = add_buffer({0, {}, name});
  packed_constants_.emplace(key, id);
  return id;
}

StorageId PlanBuilder::add_port(const std::string& name, ElementType type, const Shape& shape, bool is_input) {
  const std::size_t bytes = static_cast<std::size_t>(count_elems(shape)) * size_bytes(type);
  const StorageId id = add_buffer({bytes, {}, (is_input ? "input '" : "output '") + name + "'"});
  const std::int32_t buffer = storages_[static_cast<std::size_t>(id)].buffer;
  (is_input ? plan_->inputs : plan_->outputs).push_back({name, {buffer, 0}, type, shape});
  return id;
}

// The largest first, so that no thread has a long one left when the others are done.
void PlanBuilder::make_packed_constants() {
  std::stable_sort(packed_work_.begin(), packed_work_.end(),
                   [](const PackedWork& a, const PackedWork& b) { return a.source_bytes > b.source_bytes; });
  parallel_for(packed_work_.size(), [this](std::size_t i) {
    PlanBuffer& buffer = plan_->buffers[packed_work_[i].buffer];
    buffer.constant = packed_work_[i].make();
    buffer.size_bytes = buffer.constant.size_bytes();
  });
}

void PlanBuilder::touch(StorageId storage) {
  if (storage < 0) return;
  const auto step = static_cast<std::int32_t>(plan_->steps.size());
  Storage& touched = storages_[static_cast<std::size_t>(storage)];
  touched.first = std::min(touched.first, step);
  touched.last = std::max(touched.last, step);
}

// Until finish() a BufferRef names a storage instead of a plan buffer.
Launch PlanBuilder::make_launch(const KernelLaunch& kernel, const NodeStorages& storages) {
  Launch launch{kernel.instance, {}, kernel.global, kernel.local};
  for (const LowerArg& arg : kernel.args) {
    if (const auto* operand = std::get_if<Operand>(&arg)) {
      const StorageId storage = storage_of(*operand, storages);
      touch(storage);
      launch.args.emplace_back(BufferRef{storage, operand->offset_bytes});
    } else if (const auto* integer = std::get_if<std::int32_t>(&arg)) {
      launch.args.emplace_back(*integer);
    } else if (const auto* number = std::get_if<float>(&arg)) {
      launch.args.emplace_back(*number);
    } else {
      launch.args.emplace_back(std::get<LocalBytes>(arg));
    }
  }
  return launch;
}

void PlanBuilder::add_launches(const Node& node, const std::string& layer, const Lowered& lowered,
                               const NodeStorages& storages, const Cost& cost) {
  // Every tensor of the node stays live over all of its launches: scratch must not take an output's place.
  const auto touch_all = [&] {
    for (const auto* group : {&storages.inputs, &storages.outputs, &storages.constants, &storages.scratch}) {
      for (const StorageId storage : *group) touch(storage);
    }
  };
  bool is_first = true;
  for (const KernelLaunch& kernel : lowered.launches) {
    touch_all();
    PlanStep step{layer, node.type, kernel.instance.entry, make_launch(kernel, storages), 0, 0};
    if (is_first) {
      step.flops = cost.flops;
      step.bytes = cost.bytes;
    }
    is_first = false;
    plan_->steps.push_back(std::move(step));
  }
}

void PlanBuilder::add_host_call(const Node& node, const std::string& kernel, HostCall call, const Cost& cost) {
  for (const auto* group : {&call.inputs, &call.outputs}) {
    for (const HostOperand& operand : *group) touch(operand.ref.buffer);
  }
  plan_->steps.push_back({node.name, node.type, kernel, std::move(call), cost.flops, cost.bytes});
}

BufferRef PlanBuilder::resolved(const BufferRef& draft, const std::vector<std::size_t>& arena_offsets) const {
  if (draft.buffer < 0) return draft;
  const auto index = static_cast<std::size_t>(draft.buffer);
  const Storage& storage = storages_[index];
  if (!storage.is_arena) return {storage.buffer, draft.offset_bytes};
  return {0, static_cast<std::int64_t>(arena_offsets[index]) + draft.offset_bytes};
}

std::shared_ptr<const DevicePlan> PlanBuilder::finish(PlanStats* stats) {
  make_packed_constants();
  std::vector<Lifetime> lifetimes;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    if (!storages_[i].is_arena || storages_[i].last < 0) continue;
    lifetimes.push_back({storages_[i].size_bytes, storages_[i].first, storages_[i].last});
    owners.push_back(i);
  }
  const ArenaPlan arena = plan_arena(lifetimes);
  std::vector<std::size_t> offsets(storages_.size(), 0);
  for (std::size_t i = 0; i < owners.size(); ++i) offsets[owners[i]] = arena.offsets[i];
  for (PlanStep& step : plan_->steps) {
    if (auto* launch = std::get_if<Launch>(&step.action)) {
      for (LaunchArg& arg : launch->args) {
        if (auto* ref = std::get_if<BufferRef>(&arg)) *ref = resolved(*ref, offsets);
      }
    } else {
      auto& call = std::get<HostCall>(step.action);
      for (auto* group : {&call.inputs, &call.outputs}) {
        for (HostOperand& operand : *group) operand.ref = resolved(operand.ref, offsets);
      }
    }
  }
  plan_->buffers[0].size_bytes = arena.size_bytes;
  if (stats != nullptr) {
    stats->arena_bytes = arena.size_bytes;
    stats->lower_bound_bytes = arena.lower_bound_bytes;
    for (const PlanBuffer& buffer : plan_->buffers) {
      if (buffer.constant.count() > 0) stats->weights_bytes += buffer.size_bytes;
    }
  }
  return plan_;
}

}  // namespace headrace::detail
