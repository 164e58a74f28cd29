// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams.hpp"

#include <algorithm>

namespace headrace {
namespace {

// Every request in flight has an arena: more streams than these cost memory before they bring speed.
constexpr int kMaxChosenStreams = 16;
// One request's transfers and launches hide behind the other's kernels.
constexpr int kDeviceStreams = 2;

// The most streams up to the limit that divide the units without a rest.
int count_for_units(int units) {
  for (int count = std::min(units, kMaxChosenStreams); count > 1; --count) {
    if (units % count == 0) return count;
  }
  return 1;
}

int choose_count(const StreamTraits& device, PerformanceHint hint) {
  if (hint == PerformanceHint::kLatency) return 1;
  if (device.type == DeviceType::kGpu) return kDeviceStreams;
  // An accelerator that can be divided is an emulator on CPU cores.
  if (device.type == DeviceType::kAccelerator && device.max_parts == 1) return kDeviceStreams;
  return count_for_units(device.compute_units);
}

}  // namespace

std::string_view to_string(PerformanceHint hint) {
  return hint == PerformanceHint::kLatency ? "LATENCY" : "THROUGHPUT";
}

Streams choose_streams(const StreamTraits& device, const StreamWish& wish) {
  Streams streams;
  streams.count = wish.count > 0 ? wish.count : choose_count(device, wish.hint);
  if (device.parts_run_apart && streams.count <= device.max_parts) streams.parts = streams.count;
  return streams;
}

int threads_per_stream(int threads, int streams, int cores) {
  if (streams <= 1) return threads;
  return std::max(1, (threads > 0 ? threads : cores) / streams);
}

}  // namespace headrace
