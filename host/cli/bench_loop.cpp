// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

// The smallest value that at least `fraction` of the sorted values do not exceed.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

}  // namespace

BenchFigures run_bench_loop(std::vector<InferRequest>& requests, const BenchLimits& limits,
                            const std::function<void(double fraction)>& progress) {
  std::vector<double> latencies_ms;
  std::vector<Clock::time_point> starts(requests.size());
  const Clock::time_point begin = Clock::now();
  int started = 0;
  const auto fraction_done = [&] {
    if (limits.iterations) return static_cast<double>(started) / *limits.iterations;
    return ms_between(begin, Clock::now()) / 1e3 / limits.seconds;
  };
  const auto start = [&](std::size_t i) {
    starts[i] = Clock::now();
    requests[i].start_async();
    ++started;
  };
  std::size_t in_flight = 0;
  for (; in_flight < requests.size() && (in_flight == 0 || fraction_done() < 1.0); ++in_flight) start(in_flight);
  // Requests end in the order of their start on one queue, so waiting round robin loses nothing there.
  for (std::size_t i = 0; in_flight > 0; i = (i + 1) % requests.size()) {
    if (starts[i] == Clock::time_point()) continue;
    requests[i].wait();
    latencies_ms.push_back(ms_between(starts[i], Clock::now()));
    starts[i] = {};
    --in_flight;
    const double fraction = fraction_done();
    if (fraction < 1.0) {
      start(i);
      ++in_flight;
    }
    progress(fraction);
  }
  const double total_ms = ms_between(begin, Clock::now());
  std::sort(latencies_ms.begin(), latencies_ms.end());
  const int iterations = static_cast<int>(latencies_ms.size());
  return {median(latencies_ms), latencies_ms.front(), percentile(latencies_ms, 0.95), iterations / total_ms * 1e3,
          iterations};
}

}  // namespace headrace
