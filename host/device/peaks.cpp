// SPDX-License-Identifier: Apache-2.0
#include "device/peaks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace {
namespace {

constexpr std::size_t kGroup = 256;                            // work-items of a group on GPUs
constexpr std::size_t kGroupsPerUnit = 32;                     // enough to keep every unit busy
constexpr std::size_t kAcc = 12;                               // peaks.cl's default
constexpr std::size_t kCachedItemBytes = 8192;                 // a work-item on a CPU copies within its first cache
constexpr std::size_t kMaxCopyBytes = std::size_t{256} << 20;  // beyond the caches of today's processors

// How many work-items run, and how they are grouped.
struct Spread {
  std::size_t vec = 4;
  std::size_t items = 1;
  std::size_t group = 1;
};

Spread spread_over(const KernelCaps& caps) {
  const auto units = static_cast<std::size_t>(caps.compute_units);
  if (caps.is_wide()) return {caps.vector_width >= 16 ? 16U : caps.vector_width >= 8 ? 8U : 4U, 4 * units, 1};
  const std::size_t group = std::min(kGroup, caps.max_group(0));
  return {4, units * kGroupsPerUnit * group, group};
}

KernelInstance instance(const Spread& spread, const char* entry) {
  return {"peaks.cl", "VEC=" + std::to_string(spread.vec), entry};
}

bool can_run(const KernelCaps& caps, const char* entry) {
  return caps.type != DeviceType::kCpuFallback && caps.offers(instance(spread_over(caps), entry));
}

PlanStep make_step(const Spread& spread, const char* entry, std::vector<LaunchArg> args) {
  Launch launch{instance(spread, entry), std::move(args)};
  launch.global[0] = spread.items;
  launch.local[0] = spread.group;
  return {entry, "peak", entry, launch, 0, 0};
}

// The rate of the best of several launches by the device's own clock; the first ones warm up.
double best_rate(const Device& device, std::shared_ptr<const DevicePlan> plan, double work) {
  constexpr int kRuns = 12;
  const auto executable = device.load(std::move(plan), {.is_profiling = true});
  const auto session = executable->make_session();
  double least_us = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    session->start();
    session->finish();
    const double time_us = session->profile().steps.at(0).device_us;
    if (time_us > 0.0) least_us = std::min(least_us, time_us);
  }
  return work / least_us * 1e6;
}

struct CopyPlan {
  std::shared_ptr<const DevicePlan> plan;  // null where the device does not offer the kernel
  double bytes = 0.0;                      // that a launch reads and writes
};

// Copies arrays of about `array_bytes`, again and again within a launch.
CopyPlan make_copy(const KernelCaps& caps, std::size_t array_bytes, std::int32_t repeats) {
  constexpr const char* kEntry = "copy_peak_f32";
  if (!can_run(caps, kEntry)) return {};
  const Spread spread = spread_over(caps);
  const std::size_t bytes_per_round = spread.items * spread.vec * sizeof(float);
  const auto rounds = static_cast<std::int32_t>(std::max<std::size_t>(array_bytes / bytes_per_round, 1));
  const std::size_t bytes = bytes_per_round * static_cast<std::size_t>(rounds);
  // On CPUs every work-item has a range of its own; on GPUs neighbours read neighbouring vectors.
  const std::int32_t first = spread.group == 1 ? rounds : 1;
  const std::int32_t step = spread.group == 1 ? 1 : static_cast<std::int32_t>(spread.items);
  auto plan = std::make_shared<DevicePlan>();
  plan->buffers = {{kMemoryAlignment, {}, "arena"}, {bytes, {}, "source"}, {bytes, {}, "target"}};
  plan->steps = {make_step(spread, kEntry, {BufferRef{1, 0}, BufferRef{2, 0}, first, step, rounds, repeats})};
  return {plan, 2.0 * static_cast<double>(bytes) * repeats};
}

double measure_copy(const Device& device, const CopyPlan& copy) {
  return copy.plan == nullptr ? 0.0 : best_rate(device, copy.plan, copy.bytes);
}

}  // namespace

double measure_peak_flops(const Device& device) {
  constexpr const char* kEntry = "fma_peak_f32";
  const KernelCaps caps = device.caps();
  if (!can_run(caps, kEntry)) return 0.0;
  const Spread spread = spread_over(caps);
  const std::int32_t rounds = spread.group == 1 ? 1 << 18 : 1 << 11;
  auto plan = std::make_shared<DevicePlan>();
  plan->buffers = {{kMemoryAlignment, {}, "arena"}, {spread.items * spread.vec * sizeof(float), {}, "sums"}};
  // Below 1, so that the chains stay finite.
  plan->steps = {make_step(spread, kEntry, {BufferRef{1, 0}, rounds, 0.5F})};
  return best_rate(device, plan, 2.0 * kAcc * static_cast<double>(spread.vec * spread.items) * rounds);
}

double measure_memory_bytes(const Device& device) {
  const KernelCaps caps = device.caps();
  const std::size_t largest = std::min({kMaxCopyBytes, caps.max_alloc_bytes, caps.global_bytes / 8});
  return measure_copy(device, make_copy(caps, largest, 1));
}

double measure_cache_bytes(const Device& device) {
  const KernelCaps caps = device.caps();
  return measure_copy(device, make_copy(caps, spread_over(caps).items * kCachedItemBytes, 1024));
}

std::shared_ptr<const DevicePlan> make_copy_plan(const KernelCaps& caps, std::size_t array_bytes) {
  return make_copy(caps, array_bytes, 1).plan;
}

}  // namespace headrace
