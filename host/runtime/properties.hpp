// SPDX-License-Identifier: Apache-2.0
// The keys that compile_model takes and get_property answers; names and values are OpenVINO's.
#pragma once

#include <optional>

#include "headrace/headrace.hpp"
#include "runtime/streams.hpp"

namespace headrace {

struct CompileOptions {
  bool is_profiling = false;  // PERF_COUNT: YES or NO
  int threads = 0;            // INFERENCE_NUM_THREADS: of the CPU device, 0: all cores
  bool exact_nan = false;     // EXACT_NAN: YES or NO
  // PERFORMANCE_HINT: LATENCY or THROUGHPUT; NUM_STREAMS: a number, or AUTO: as the hint says
  StreamWish streams;
  bool has_startup_fallback = false;  // ENABLE_STARTUP_FALLBACK: YES or NO
  bool is_tuned = true;               // TUNING: YES or NO
};

// Throws kInvalidArgument for an unknown key, listing the known ones, or a bad value.
CompileOptions parse_properties(const Properties& properties);

// The value of a key that parse_properties knows; nothing for other keys.
std::optional<std::string> property_text(const CompileOptions& options, std::string_view key);

// "PERF_COUNT, INFERENCE_NUM_THREADS, ...", for messages.
std::string property_names();

}  // namespace headrace
