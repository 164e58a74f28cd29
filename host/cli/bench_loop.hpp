// SPDX-License-Identifier: Apache-2.0
// The measuring loop of `headrace bench`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace {

// The loop ends after the iterations where they are given, else after the seconds (and at least one run).
struct BenchLimits {
  std::optional<int> iterations;
  double seconds = 5.0;
};

// Latency is counted from the start of a run to its end, with all requests in flight.
struct BenchFigures {
  double median_ms = 0.0;
  double min_ms = 0.0;
  double p95_ms = 0.0;
  double fps = 0.0;
  int iterations = 0;
};

// Keeps every request busy until the limit is reached. Rethrows a run's error.
BenchFigures run_bench_loop(std::vector<InferRequest>& requests, const BenchLimits& limits,
                            const std::function<void(double fraction)>& progress);

}  // namespace headrace
