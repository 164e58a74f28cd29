// SPDX-License-Identifier: Apache-2.0
// The keys that compile_model takes.
#pragma once

#include "headrace/headrace.hpp"

namespace headrace {

struct CompileOptions {
  bool is_profiling = false;  // PERF_COUNT: YES or NO
  int threads = 0;            // INFERENCE_NUM_THREADS: of the CPU device, 0: all cores
  bool exact_nan = false;     // EXACT_NAN: YES or NO
};

// Throws kInvalidArgument for an unknown key, listing the known ones, or a bad value.
CompileOptions parse_properties(const Properties& properties);

}  // namespace headrace
