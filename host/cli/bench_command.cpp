// SPDX-License-Identifier: Apache-2.0
// `headrace bench`: latency and throughput on random inputs.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/bench_loop.hpp"
#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<InferRequest> make_requests(const CompiledModel& net, int count) {
  std::vector<InferRequest> requests;
  for (int i = 0; i < count; ++i) {
    InferRequest request = net.create_infer_request();
    const std::vector<PortInfo> inputs = net.inputs();
    for (std::size_t port = 0; port < inputs.size(); ++port)
      request.set_input_tensor(port, random_tensor(inputs[port]));
    requests.push_back(std::move(request));
  }
  return requests;
}

// What happened before the measuring loop.
struct StartFigures {
  double read_ms = 0.0;  // part of load_ms
  double load_ms = 0.0;
  double first_ms = 0.0;
  int fallback_runs = 0;  // with --startup-fallback: runs until the device answered, on the CPU
  double ready_ms = 0.0;  // and when it did, from the start
};

CompiledModel compile(const Core& core, const Model& model, const BenchOptions& options) {
  Properties properties = properties_of(options.compile);
  properties["TUNING"] = options.is_tuned ? "YES" : "NO";
  properties["PERFORMANCE_HINT"] = options.is_throughput ? "THROUGHPUT" : "LATENCY";
  if (options.streams > 0) properties["NUM_STREAMS"] = std::to_string(options.streams);
  return core.compile_model(model, options.model.devices, properties);
}

int count_requests(const CompiledModel& net, const BenchOptions& options) {
  int count = std::max(1, options.requests);
  if (options.requests == 0 && (options.is_throughput || options.streams > 0)) {
    count = std::stoi(net.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
  }
  return options.iterations ? std::min(count, *options.iterations) : count;
}

// The first run of each request is a warm-up; measured is the device, not what stands in for it.
void warm_up(const CompiledModel& net, std::vector<InferRequest>& requests, bool has_fallback, Clock::time_point start,
             StartFigures& figures) {
  const auto first_start = Clock::now();
  requests[0].infer();
  figures.first_ms = ms_since(first_start);
  while (net.get_property("EXECUTION_DEVICES") == "(CPU)") {
    requests[0].infer();
    ++figures.fallback_runs;
  }
  figures.ready_ms = ms_since(start);
  const std::size_t next = has_fallback ? 0 : 1;  // the first request may have run on the CPU only
  for (std::size_t i = next; i < requests.size(); ++i) requests[i].infer();
}

Json to_json(const BenchOptions& options, const StartFigures& start, const BenchFigures& figures) {
  Json document{{"median_ms", figures.median_ms},  {"min_ms", figures.min_ms},
                {"p95_ms", figures.p95_ms},        {"fps", figures.fps},
                {"first_ms", start.first_ms},      {"load_ms", start.load_ms},
                {"read_ms", start.read_ms},        {"device", options.model.devices},
                {"iterations", figures.iterations}};
  if (options.compile.has_startup_fallback) {
    document["startup"] = {{"cpu_runs", start.fallback_runs}, {"ready_ms", start.ready_ms}};
  }
  return document;
}

void print_figures(const BenchOptions& options, const StartFigures& start, const BenchFigures& figures,
                   std::size_t requests) {
  fmt::print("device      {}\nrequests    {}\niterations  {}\n", options.model.devices, requests, figures.iterations);
  fmt::print("read        {:10.2f} ms\nload        {:10.2f} ms\n", start.read_ms, start.load_ms);
  fmt::print("first       {:10.2f} ms\n", start.first_ms);
  if (options.compile.has_startup_fallback) {
    fmt::print("ready       {:10.2f} ms, after {} more runs on the CPU\n", start.ready_ms, start.fallback_runs);
  }
  fmt::print("median      {:10.2f} ms\nmin         {:10.2f} ms\n", figures.median_ms, figures.min_ms);
  fmt::print("p95         {:10.2f} ms\nthroughput  {:10.2f} /s\n", figures.p95_ms, figures.fps);
}

}  // namespace

int run_command(const BenchOptions& options) {
  const Core core;
  const auto start = Clock::now();
  const Model model = open_model(core, options.model);
  StartFigures start_figures{.read_ms = ms_since(start)};
  if (dump_if_asked(core, model, options.model)) return 0;
  const CompiledModel net = compile(core, model, options);
  start_figures.load_ms = ms_since(start);
  warn_if_only_cpu(net.placements(), options.model.devices);

  std::vector<InferRequest> requests = make_requests(net, count_requests(net, options));
  warm_up(net, requests, options.compile.has_startup_fallback, start, start_figures);

  ProgressBar bar("measuring");
  const BenchLimits limits{options.iterations, options.seconds};
  const BenchFigures figures = run_bench_loop(requests, limits, [&bar](double fraction) { bar.show(fraction, ""); });
  std::map<std::string, double> peaks;
  if (options.compile.is_profiling) peaks = net.measure_peaks();
  if (options.is_json) {
    Json document = to_json(options, start_figures, figures);
    if (options.compile.is_profiling) {
      document["profile"] = Json::parse(profile_json(requests[0].profiling_info(), peaks));
      for (const auto& [device, flops] : peaks) document["peak_gflops"][device] = flops * 1e-9;
    }
    fmt::print("{}\n", document.dump(2));
    return 0;
  }
  for (const std::string& origin : net.origins()) fmt::print("{}\n", origin);
  print_figures(options, start_figures, figures, requests.size());
  if (options.compile.is_profiling) fmt::print("\n{}", profile_table(requests[0].profiling_info(), peaks));
  return 0;
}

}  // namespace headrace
