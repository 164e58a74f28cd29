// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

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

// Counts runs against the limits and collects their latencies. Thread-safe.
class Measurement {
 public:
  explicit Measurement(const BenchLimits& limits) : limits_(limits), begin_(Clock::now()) {}

  // Whether one more run may start; counts it as started.
  bool take() {
    const std::lock_guard lock(mutex_);
    const bool is_over = started_ > 0 && fraction_done() >= 1.0;
    if (is_over || is_stopped_) return false;
    ++started_;
    return true;
  }
  void add(double latency_ms) {
    const std::lock_guard lock(mutex_);
    latencies_ms_.push_back(latency_ms);
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  double fraction() const {
    const std::lock_guard lock(mutex_);
    return fraction_done();
  }
  // Of all runs, which have ended.
  BenchFigures figures() {
    const double total_ms = ms_between(begin_, Clock::now());
    const std::lock_guard lock(mutex_);
    std::sort(latencies_ms_.begin(), latencies_ms_.end());
    const int iterations = static_cast<int>(latencies_ms_.size());
    return {median(latencies_ms_), latencies_ms_.front(), percentile(latencies_ms_, 0.95), iterations / total_ms * 1e3,
            iterations};
  }

 private:
  double fraction_done() const {
    if (limits_.iterations) return static_cast<double>(started_) / *limits_.iterations;
    return ms_between(begin_, Clock::now()) / 1e3 / limits_.seconds;
  }

  const BenchLimits limits_;
  const Clock::time_point begin_;
  mutable std::mutex mutex_;
  std::vector<double> latencies_ms_;
  int started_ = 0;
  bool is_stopped_ = false;
};

// One request runs on this thread: handing it to another would cost two wake-ups for each run.
void run_alone(InferRequest& request, Measurement& measurement, const std::function<void(double)>& progress) {
  while (measurement.take()) {
    const Clock::time_point start = Clock::now();
    request.infer();
    measurement.add(ms_between(start, Clock::now()));
    progress(measurement.fraction());
  }
}

// Keeps its requests busy: the callback of a run starts the next one. Waits for them when it goes.
class BusyRequests {
 public:
  BusyRequests(std::vector<InferRequest>& requests, Measurement& measurement)
      : requests_(requests), measurement_(measurement), starts_(requests.size()) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      requests_[i].set_callback([this, i](const std::exception_ptr& error) { run_ended(i, error); });
    }
  }
  BusyRequests(const BusyRequests&) = delete;
  BusyRequests& operator=(const BusyRequests&) = delete;
  ~BusyRequests() {
    measurement_.stop();
    for (InferRequest& request : requests_) {
      try {
        request.wait();
      } catch (const std::exception&) {
        // The first error has been told.
      }
      request.set_callback({});
    }
  }

  void run(const std::function<void(double)>& progress) {
    for (std::size_t i = 0; i < requests_.size(); ++i) start(i);
    for (InferRequest& request : requests_) {
      while (!request.wait_for(kProgressInterval)) progress(measurement_.fraction());
    }
  }

 private:
  static constexpr std::chrono::milliseconds kProgressInterval{100};

  void start(std::size_t i) {
    if (!measurement_.take()) return;
    starts_[i] = Clock::now();
    requests_[i].start_async();
  }

  void run_ended(std::size_t i, const std::exception_ptr& error) {
    if (error != nullptr) return measurement_.stop();
    measurement_.add(ms_between(starts_[i], Clock::now()));
    start(i);
  }

  std::vector<InferRequest>& requests_;
  Measurement& measurement_;
  std::vector<Clock::time_point> starts_;
};

}  // namespace

BenchFigures run_bench_loop(std::vector<InferRequest>& requests, const BenchLimits& limits,
                            const std::function<void(double fraction)>& progress) {
  Measurement measurement(limits);
  if (requests.size() == 1) {
    run_alone(requests[0], measurement, progress);
  } else {
    BusyRequests(requests, measurement).run(progress);
  }
  return measurement.figures();
}

}  // namespace headrace
