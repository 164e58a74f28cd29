// SPDX-License-Identifier: Apache-2.0
// kernel_bench: single kernels on one OpenCL device, beside oneDNN and CLBlast where these compute the same.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/clblast_batch.hpp"
#include "bench/kernels/headrace_batch.hpp"
#include "bench/kernels/onednn_batch.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "device/cpu/thread_limit.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/peaks.hpp"
#include "headrace/headrace.hpp"

namespace headrace::bench {
namespace {

// Per second.
struct Peaks {
  double flops = 0.0;
  double memory_bytes = 0.0;
  double cache_bytes = 0.0;
};

// Runs registered benchmarks one after the other; what one needs is dropped when the next one starts.
class Runner {
 public:
  explicit Runner(const Peaks& peaks) : peaks_(peaks) {}

  void add(const std::string& name, const BenchCase& bench_case, std::function<BatchMaker()> set_up) {
    const auto run = [this, name, bench_case, set_up = std::move(set_up)](benchmark::State& state) {
      try {
        measure(state, name, bench_case, set_up);
      } catch (const std::exception& error) {
        has_failed_ = true;
        state.SkipWithError(error.what());
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMicrosecond);
  }
  bool has_failed() const { return has_failed_; }

 private:
  // Google Benchmark calls this several times with more and more iterations; a launch is an iteration.
  void measure(benchmark::State& state, const std::string& name, const BenchCase& bench_case,
               const std::function<BatchMaker()>& set_up) {
    if (name != name_) {
      prepared_ = {};
      prepared_ = prepare(set_up());
      cost_ = cost_of(bench_case.make());
      name_ = name;
    }
    double seconds = 0.0;
    double launches = 0.0;
    while (state.KeepRunningBatch(prepared_.launches)) {
      const double batch_seconds = seconds_of(prepared_.batch);
      state.SetIterationTime(batch_seconds);
      seconds += batch_seconds;
      launches += prepared_.launches;
    }
    add_counters(state, seconds / launches);
  }

  void add_counters(benchmark::State& state, double seconds) const {
    const auto flops = static_cast<double>(cost_.flops);
    const auto bytes = static_cast<double>(cost_.bytes);
    if (cost_.flops > 0) state.counters["GFLOP/s"] = flops * 1e-9 / seconds;
    state.counters["GB/s"] = bytes * 1e-9 / seconds;
    state.counters["of_peak"] = std::max(flops / peaks_.flops, bytes / peaks_.memory_bytes) / seconds;
    state.counters["flop_per_byte"] = flops / bytes;
  }

  Peaks peaks_;
  std::string name_;
  Prepared prepared_;
  Cost cost_;
  bool has_failed_ = false;
};

void add_context(const Device& device, const Peaks& peaks, bool runs_onednn) {
  const DeviceInfo& info = device.info();
  benchmark::AddCustomContext("device", info.name + " " + info.description);
  benchmark::AddCustomContext("driver", info.platform + " " + info.driver);
  benchmark::AddCustomContext("compute_units", std::to_string(device.caps().compute_units));
  benchmark::AddCustomContext("peak_gflops", fmt::format("{:.1f}", peaks.flops * 1e-9));
  benchmark::AddCustomContext("memory_gbytes", fmt::format("{:.1f}", peaks.memory_bytes * 1e-9));
  benchmark::AddCustomContext("cache_gbytes", fmt::format("{:.1f}", peaks.cache_bytes * 1e-9));
  benchmark::AddCustomContext(
      "onednn", runs_onednn || !has_onednn() ? onednn_description() : "left out: it runs on CPUs, this device is none");
  benchmark::AddCustomContext("clblast", clblast_description());
}

void add_benchmarks(Runner& runner, const Device& device, bool runs_onednn) {
  for (const BenchCase& bench_case : bench_cases()) {
    const bool is_matmul = std::holds_alternative<MatmulSize>(bench_case.size);
    const bool is_shared = is_matmul || std::holds_alternative<ConvSize>(bench_case.size);
    runner.add(bench_case.name + "/headrace", bench_case,
               [&device, bench_case] { return make_headrace_batches(device, bench_case); });
    if (is_shared && runs_onednn) {
      runner.add(bench_case.name + "/onednn", bench_case, [bench_case] { return make_onednn_batches(bench_case); });
    }
    if (is_matmul && has_clblast()) {
      runner.add(bench_case.name + "/clblast", bench_case,
                 [&device, bench_case] { return make_clblast_batches(device, bench_case); });
    }
  }
}

int run(const std::string& device_name) {
  const OpenClOptions options{.cache_dir = default_core_options().cache_dir};
  const std::unique_ptr<Device> device = make_opencl_device(device_name, options);
  const KernelCaps caps = device->caps();
  const bool runs_onednn = has_onednn() && caps.type == DeviceType::kCpu;
  const ThreadLimit limit(caps.compute_units);  // oneDNN gets as many threads as the device has
  const Peaks peaks{measure_peak_flops(*device), measure_memory_bytes(*device), measure_cache_bytes(*device)};
  add_context(*device, peaks, runs_onednn);
  Runner runner(peaks);
  add_benchmarks(runner, *device, runs_onednn);
  const bool has_run = benchmark::RunSpecifiedBenchmarks() > 0;
  benchmark::ClearRegisteredBenchmarks();
  return has_run && !runner.has_failed() ? 0 : 1;
}

}  // namespace
}  // namespace headrace::bench

int main(int argc, char** argv) {
  try {
    headrace::configure_log_from_environment();
    CLI::App app(
        "Measures single kernels on one OpenCL device. Takes Google Benchmark's options too: "
        "--benchmark_filter=REGEX, --benchmark_min_time=SECONDS, --benchmark_out=FILE.json, ...");
    std::string device = "POCL";
    app.add_option("-d,--device", device, "name or alias as `headrace devices` prints it")
        ->envname("HEADRACE_TEST_DEVICE")
        ->capture_default_str();
    app.allow_extras();
    CLI11_PARSE(app, argc, argv);
    std::vector<std::string> rest = app.remaining_for_passthrough();
    std::vector<char*> arguments{argv[0]};
    for (std::string& argument : rest) arguments.push_back(argument.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
    return headrace::bench::run(device);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernel_bench: error: {}\n", error.what());
    return 1;
  }
}
