// SPDX-License-Identifier: Apache-2.0
// How the requests of a compiled model share a device. Pure: nothing here touches a device.
#pragma once

#include <string_view>

#include "device/caps.hpp"

namespace headrace {

enum class PerformanceHint {
  kLatency,     // one request after the other, each as fast as the device can
  kThroughput,  // as many results per second as it can, with several requests in flight
};

std::string_view to_string(PerformanceHint hint);  // "LATENCY", "THROUGHPUT"

// What a device says of itself to be shared.
struct StreamTraits {
  DeviceType type = DeviceType::kCpuFallback;
  int compute_units = 1;
  int max_parts = 1;             // equal parts that it can be divided into
  bool parts_run_apart = false;  // whether a part works without waiting for another
};

// A stream runs one request at a time; requests go round the streams.
struct Streams {
  int count = 1;
  int parts = 1;  // 1: every stream has a queue of its own on the whole device, else a part of its own

  friend bool operator==(const Streams&, const Streams&) = default;
};

// What the user wants of them.
struct StreamWish {
  PerformanceHint hint = PerformanceHint::kLatency;
  int count = 0;  // 0: as the hint says
};

// Chooses how many streams a device has.
// A device on CPU cores gets one unit for each stream: a launch then wakes no other thread, which costs 28 to 80 us on
// a virtual machine (PoCL 3.1, 2 December 2026), and both cores are busy all the time.
Streams choose_streams(const StreamTraits& device, const StreamWish& wish);

// Threads of the CPU device for each of the streams; `threads` is what the user allows them together, 0: all cores.
// Returns 0 (all cores) for one stream without a limit.
int threads_per_stream(int threads, int streams, int cores);

}  // namespace headrace
