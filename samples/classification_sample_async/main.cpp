// SPDX-License-Identifier: Apache-2.0
// Names what pictures show, with several requests in flight and a callback at the end of each run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>

#include "common/classification.hpp"
#include "common/idle_queue.hpp"
#include "common/options.hpp"
#include "common/picture.hpp"
#include "core/log.hpp"
#include "headrace/headrace.hpp"

namespace {

using headrace::samples::SampleOptions;
using Clock = std::chrono::steady_clock;

const std::string kProgram = "classification_sample_async";

struct Slot {
  explicit Slot(headrace::InferRequest idle) : request(std::move(idle)) {}
  headrace::InferRequest request;
  headrace::Tensor input;
  std::optional<std::size_t> picture;  // the one that is running
  Clock::time_point start, end;
};

struct Result {
  std::vector<headrace::samples::ClassScore> classes;
  std::vector<double> times_ms;
  std::string error;
};

// Takes the result of the slot's run, if there is one; an error belongs to its picture, not to the program.
void collect(Slot& slot, std::vector<Result>& results, int top) {
  if (!slot.picture) return;
  Result& result = results[*slot.picture];
  slot.picture.reset();
  try {
    slot.request.wait();
    result.times_ms.push_back(std::chrono::duration<double, std::milli>(slot.end - slot.start).count());
    result.classes = headrace::samples::best_classes(slot.request.get_output_tensor(), static_cast<std::size_t>(top));
  } catch (const headrace::Error& error) {
    result.error = error.what();
  }
}

void start(Slot& slot, std::size_t picture, const headrace::Tensor& input) {
  slot.input = input;
  slot.request.set_input_tensor(0, slot.input);
  slot.start = Clock::now();
  slot.request.start_async();
  slot.picture = picture;
}

std::vector<Result> run_all(const SampleOptions& options, const headrace::samples::ImageInput& input,
                            std::vector<Slot>& slots) {
  std::vector<Result> results(options.pictures.size());
  headrace::samples::IdleQueue idle;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].request.set_callback([&slot = slots[i], &idle, i](std::exception_ptr) {
      slot.end = Clock::now();
      idle.push(i);
    });
    idle.push(i);
  }
  for (std::size_t picture = 0; picture < results.size(); ++picture) {
    try {
      const headrace::samples::Picture decoded =
          headrace::samples::read_picture(options.pictures[picture], input.channels);
      const headrace::Tensor tensor = headrace::samples::to_tensor(decoded, input, options.preprocess);
      for (int run = 0; run < options.repeats; ++run) {
        const std::size_t index = idle.pop();
        collect(slots[index], results, options.top);
        try {
          start(slots[index], picture, tensor);
        } catch (...) {
          idle.push(index);
          throw;
        }
      }
    } catch (const headrace::Error& error) {
      results[picture].error = error.what();
    }
  }
  // Each request comes back once more when its last run is over; none may outlive the queue.
  for (std::size_t i = 0; i < slots.size(); ++i) collect(slots[idle.pop()], results, options.top);
  return results;
}

int classify(const SampleOptions& options) {
  const std::vector<std::string> labels =
      options.labels.empty() ? std::vector<std::string>() : headrace::samples::read_labels(options.labels);
  const headrace::Core core;
  headrace::Model model = core.read_model(options.model);
  const headrace::samples::ImageInput input = headrace::samples::find_image_input(model, options.preprocess);
  const headrace::Properties properties = {{"PERF_COUNT", options.is_profiling ? "YES" : "NO"}};
  const headrace::CompiledModel net = core.compile_model(model, options.device, properties);
  headrace::samples::warn_about_labels(kProgram, labels.size(), net.outputs());
  for (const std::string& origin : net.origins()) std::printf("%s\n", origin.c_str());

  std::vector<Slot> slots;
  for (int i = 0; i < options.requests; ++i) slots.emplace_back(net.create_infer_request());
  const std::vector<Result> results = run_all(options, input, slots);
  int exit_code = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].error.empty()) {
      headrace::samples::print_error(kProgram, results[i].error);
      exit_code = 1;
      continue;
    }
    std::vector<double> times = results[i].times_ms;
    std::sort(times.begin(), times.end());
    std::printf("\n%s (median %.2f ms of %zu runs)\n%s", options.pictures[i].c_str(), times[times.size() / 2],
                times.size(), headrace::samples::classes_table(results[i].classes, labels).c_str());
  }
  const bool has_result = std::any_of(results.begin(), results.end(), [](const Result& r) { return r.error.empty(); });
  if (options.is_profiling && has_result) {
    const auto last =
        std::max_element(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.end < b.end; });
    std::printf("\n%s", headrace::profile_table(last->request.profiling_info()).c_str());
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    headrace::configure_log_from_environment();
    const auto parsed = headrace::samples::parse_sample_options(
        argc, argv, {kProgram, "Names what pictures show, with several requests in flight.", true});
    return parsed.options ? classify(*parsed.options) : parsed.exit_code;
  } catch (const std::exception& error) {
    headrace::samples::print_error(kProgram, error.what());
    return 1;
  }
}
