// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/peaks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "bench/kernels/headrace_batch.hpp"

namespace headrace::bench {
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

PlanStep make_step(const Spread& spread, const char* entry, std::vector<LaunchArg> args) {
  Launch launch{{"peaks.cl", "VEC=" + std::to_string(spread.vec), entry}, std::move(args)};
  launch.global[0] = spread.items;
  launch.local[0] = spread.group;
  return {entry, "peak", entry, launch, 0, 0};
}

// The rate of the best of several runs: a peak is what a device can do, not what others leave of it.
double best_rate(const Device& device, std::shared_ptr<const DevicePlan> plan, double work) {
  const Prepared prepared = prepare(make_plan_batches(device, std::move(plan)));
  double seconds = seconds_of(prepared.batch);
  for (int run = 0; run < 9; ++run) seconds = std::min(seconds, seconds_of(prepared.batch));
  return work * prepared.launches / seconds;
}

double measure_flops(const Device& device, const Spread& spread) {
  const std::int32_t rounds = spread.group == 1 ? 1 << 18 : 1 << 11;
  auto plan = std::make_shared<DevicePlan>();
  plan->buffers = {{kMemoryAlignment, {}, "arena"}, {spread.items * spread.vec * sizeof(float), {}, "sums"}};
  // Below 1, so that the chains stay finite.
  plan->steps = {make_step(spread, "fma_peak_f32", {BufferRef{1, 0}, rounds, 0.5F})};
  return best_rate(device, plan, 2.0 * kAcc * static_cast<double>(spread.vec * spread.items) * rounds);
}

// Copies arrays of about `array_bytes`, again and again within a launch.
double measure_bytes(const Device& device, const Spread& spread, std::size_t array_bytes, std::int32_t repeats) {
  const std::size_t bytes_per_round = spread.items * spread.vec * sizeof(float);
  const auto rounds = static_cast<std::int32_t>(std::max<std::size_t>(array_bytes / bytes_per_round, 1));
  const std::size_t bytes = bytes_per_round * static_cast<std::size_t>(rounds);
  // On CPUs every work-item has a range of its own; on GPUs neighbours read neighbouring vectors.
  const std::int32_t first = spread.group == 1 ? rounds : 1;
  const std::int32_t step = spread.group == 1 ? 1 : static_cast<std::int32_t>(spread.items);
  auto plan = std::make_shared<DevicePlan>();
  plan->buffers = {{kMemoryAlignment, {}, "arena"}, {bytes, {}, "source"}, {bytes, {}, "target"}};
  plan->steps = {make_step(spread, "copy_peak_f32", {BufferRef{1, 0}, BufferRef{2, 0}, first, step, rounds, repeats})};
  return best_rate(device, plan, 2.0 * static_cast<double>(bytes) * repeats);
}

}  // namespace

Peaks measure_peaks(const std::string& device_name, OpenClOptions options) {
  options.kernel_dir = HEADRACE_SOURCE_DIR "/tests/bench/kernels";
  const std::unique_ptr<Device> device = make_opencl_device(device_name, options);
  const KernelCaps caps = device->caps();
  const Spread spread = spread_over(caps);
  const std::size_t large = std::min({kMaxCopyBytes, caps.max_alloc_bytes, caps.global_bytes / 8});
  return {measure_flops(*device, spread), measure_bytes(*device, spread, large, 1),
          measure_bytes(*device, spread, spread.items * kCachedItemBytes, 64)};
}

}  // namespace headrace::bench
