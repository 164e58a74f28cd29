// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/step_workers.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "core/log.hpp"
#include "device/opencl/cl_error.hpp"

namespace headrace {
namespace {

// Of a step, as kernels/common/items.clh has them: next and done lie in cache lines of their own.
constexpr std::size_t kShareInts = 32;
constexpr std::size_t kSizes = 1, kCount = 4, kTaken = 5, kHelped = 17;
// More queues cost more to fill than their threads lose by sleeping.
constexpr std::size_t kMaxQueues = 4;
// Times that a worker should at least take items: few enough to cost nothing, so many that all end together.
constexpr std::size_t kTakesPerUnit = 32;

// Items of the step's NDRange; 0 where they cannot be shared.
std::size_t count_items(const Launch& launch) {
  if (!launch.instance.is_wide()) return 0;
  const std::size_t count = launch.global[0] * launch.global[1] * launch.global[2];
  // Every worker counts once past the end.
  return count < INT_MAX / 2 && launch.local == std::array<std::size_t, 3>{1, 1, 1} ? count : 0;
}

}  // namespace

StepWorkers::StepWorkers(std::shared_ptr<const LoadedPlan> loaded, std::size_t part, cl_command_queue first)
    : loaded_(std::move(loaded)), first_(first) {
  const OpenClContext& context = *loaded_->context;
  const auto units = static_cast<std::size_t>(std::max(context.caps().compute_units, 1));
  if (!context.shares_host_memory() || units == 1) return;
  for (std::size_t step = 0; step < loaded_->plan->steps.size(); ++step) {
    const Launch& launch = loaded_->launch(step);
    const std::size_t count = count_items(launch);
    const bool is_empty = launch.global[0] == 0 || launch.global[1] == 0 || launch.global[2] == 0;
    if (count == 0 && !is_empty) return;
    std::array<cl_int, kShareInts> share{};
    for (std::size_t i = 0; i < 3; ++i) share[kSizes + i] = static_cast<cl_int>(launch.global[i]);
    share[kCount] = static_cast<cl_int>(count);
    share[kTaken] = static_cast<cl_int>(std::max<std::size_t>(count / (kTakesPerUnit * units), 1));
    at_begin_.insert(at_begin_.end(), share.begin(), share.end());
  }
  if (at_begin_.empty()) return;
  make_shares();
  const std::size_t queues = std::min(units, kMaxQueues);
  items_per_launch_ = (units + queues - 1) / queues;
  while (helpers_.size() + 1 < queues) {
    cl_int code = CL_SUCCESS;
    helpers_.emplace_back(clCreateCommandQueue(context.get(), context.device(part), 0, &code));
    check_cl(code, "device " + context.name() + ": making a queue");
  }
  has_started_.assign(helpers_.size(), 0);
}

void StepWorkers::make_shares() {
  const OpenClContext& context = *loaded_->context;
  const std::size_t size = at_begin_.size() * sizeof(cl_int);
  memory_ = make_aligned_memory(size, "work shares");
  state_ = context.make_buffer(size, memory_.get(), "work shares");
  for (std::size_t at = 0; at < at_begin_.size(); at += kShareInts) {
    const cl_buffer_region region = {at * sizeof(cl_int), kShareInts * sizeof(cl_int)};
    cl_int code = CL_SUCCESS;
    shares_.emplace_back(
        clCreateSubBuffer(state_.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    check_cl(code, "device " + context.name() + ": work shares");
  }
}

void StepWorkers::begin() {
  if (!is_on()) return;
  cl_event event = nullptr;
  check_cl(clEnqueueWriteBuffer(first_, state_.get(), CL_FALSE, 0, at_begin_.size() * sizeof(cl_int), at_begin_.data(),
                                0, nullptr, &event),
           "device " + loaded_->context->name() + ": starting the workers");
  ready_ = ClEvent(event);
  std::fill(has_started_.begin(), has_started_.end(), char{0});
}

cl_int StepWorkers::enqueue(std::size_t step, cl_kernel kernel, cl_event* event) {
  const Launch& launch = loaded_->launch(step);
  if (!is_on()) {
    return clEnqueueNDRangeKernel(first_, kernel, 3, nullptr, launch.global.data(), launch.local.data(), 0, nullptr,
                                  event);
  }
  const std::array<std::size_t, 3> global{items_per_launch_, 1, 1};
  cl_int code =
      clEnqueueNDRangeKernel(first_, kernel, 3, nullptr, global.data(), launch.local.data(), 0, nullptr, event);
  for (std::size_t i = 0; i < helpers_.size() && code == CL_SUCCESS; ++i) {
    const std::array<std::size_t, 3> offset{(i + 1) * items_per_launch_, 0, 0};
    const cl_event ready = ready_.get();
    const bool is_first_launch = has_started_[i] == 0;
    code = clEnqueueNDRangeKernel(helpers_[i].get(), kernel, 3, offset.data(), global.data(), launch.local.data(),
                                  is_first_launch ? 1 : 0, is_first_launch ? &ready : nullptr, nullptr);
    has_started_[i] = 1;
    // Work that is not flushed may not start, and the first queue would do all of it.
    if (is_first_launch && code == CL_SUCCESS) code = clFlush(first_);
    if (is_first_launch && code == CL_SUCCESS) code = clFlush(helpers_[i].get());
  }
  return code;
}

void StepWorkers::flush() {
  for (const ClQueue& helper : helpers_) {
    check_cl(clFlush(helper.get()), "device " + loaded_->context->name() + ": starting the run");
  }
}

cl_ulong StepWorkers::ready_ns() const {
  cl_ulong time = 0;
  const cl_int code = clGetEventProfilingInfo(ready_.get(), CL_PROFILING_COMMAND_END, sizeof(time), &time, nullptr);
  return code == CL_SUCCESS ? time : 0;
}

bool StepWorkers::finish() {
  for (const ClQueue& helper : helpers_) {
    check_cl(clFinish(helper.get()), "device " + loaded_->context->name() + ": running the network");
  }
  if (!is_on() || trial_runs_left_ == 0) return false;
  --trial_runs_left_;
  if (trial_runs_left_ > 0 || !are_helpers_idle()) return false;
  log(LogLevel::kInfo, "opencl",
      "device " + loaded_->context->name() + " does not run two queues at once: one queue runs the steps");
  helpers_.clear();
  return true;
}

bool StepWorkers::are_helpers_idle() {
  std::vector<cl_int> state(at_begin_.size());
  check_cl(clEnqueueReadBuffer(first_, state_.get(), CL_TRUE, 0, state.size() * sizeof(cl_int), state.data(), 0,
                               nullptr, nullptr),
           "device " + loaded_->context->name() + ": reading the work shares");
  std::int64_t items = 0;
  std::int64_t helped = 0;
  for (std::size_t at = 0; at < state.size(); at += kShareInts) {
    items += state[at + kCount];
    helped += state[at + kHelped];
  }
  return helped * 10 < items;
}

void StepWorkers::wait() noexcept {
  for (const ClQueue& helper : helpers_) clFinish(helper.get());
}

}  // namespace headrace
