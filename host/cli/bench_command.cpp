// SPDX-License-Identifier: Apache-2.0
// `headrace bench`: latency and throughput on random inputs.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/bench_loop.hpp"
#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int kThroughputRequests = 2;
constexpr unsigned kSeed = 1;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Floating inputs are uniform in [0, 1); others are zero, since they may be indices or sizes.
Tensor random_tensor(const PortInfo& input) {
  if (!input.shape.is_static()) {
    fail(ErrorCode::kInvalidArgument,
         fmt::format("input '{}' has no fixed shape: give --input-shape {}[...]", input.name, input.name));
  }
  const Shape shape = input.shape.to_shape();
  if (!is_floating(input.type)) return Tensor(input.type, shape);
  std::mt19937 generator(kSeed);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  Tensor values(ElementType::f32, shape);
  for (float& value : values.mutable_values<float>()) value = uniform(generator);
  return input.type == ElementType::f32 ? values : convert(values, input.type);
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

}  // namespace

int run_command(const BenchOptions& options) {
  const Core core;
  const auto load_start = Clock::now();
  const Model model = open_model(core, options.model);
  if (dump_if_asked(core, model, options.model)) return 0;
  const Properties properties = {{"PERF_COUNT", options.is_profiling ? "YES" : "NO"},
                                 {"INFERENCE_NUM_THREADS", std::to_string(options.threads)},
                                 {"EXACT_NAN", options.exact_nan ? "YES" : "NO"}};
  const CompiledModel net = core.compile_model(model, options.model.devices, properties);
  const double load_ms = ms_since(load_start);
  warn_if_only_cpu(net.placements(), options.model.devices);

  int count = options.requests > 0 ? options.requests : (options.is_throughput ? kThroughputRequests : 1);
  if (options.iterations) count = std::min(count, *options.iterations);
  std::vector<InferRequest> requests = make_requests(net, count);
  const auto first_start = Clock::now();
  requests[0].infer();
  const double first_ms = ms_since(first_start);
  for (std::size_t i = 1; i < requests.size(); ++i) requests[i].infer();  // each request's first run is a warm-up

  ProgressBar bar("measuring");
  const BenchLimits limits{options.iterations, options.seconds};
  const BenchFigures figures = run_bench_loop(requests, limits, [&bar](double fraction) { bar.show(fraction, ""); });
  const Json document{{"median_ms", figures.median_ms},
                      {"min_ms", figures.min_ms},
                      {"p95_ms", figures.p95_ms},
                      {"fps", figures.fps},
                      {"first_ms", first_ms},
                      {"load_ms", load_ms},
                      {"device", options.model.devices},
                      {"iterations", figures.iterations}};
  if (options.is_json) {
    Json full = document;
    if (options.is_profiling) full["profile"] = Json::parse(profile_json(requests[0].profiling_info()));
    fmt::print("{}\n", full.dump(2));
    return 0;
  }
  for (const std::string& origin : net.origins()) fmt::print("{}\n", origin);
  fmt::print("device      {}\nrequests    {}\niterations  {}\n", options.model.devices, count, figures.iterations);
  fmt::print("load        {:10.2f} ms\nfirst       {:10.2f} ms\nmedian      {:10.2f} ms\nmin         {:10.2f} ms\n",
             load_ms, first_ms, figures.median_ms, figures.min_ms);
  fmt::print("p95         {:10.2f} ms\nthroughput  {:10.2f} /s\n", figures.p95_ms, figures.fps);
  if (options.is_profiling) fmt::print("\n{}", profile_table(requests[0].profiling_info()));
  return 0;
}

}  // namespace headrace
