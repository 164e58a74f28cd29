// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_session.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/session_buffers.hpp"
#include "device/opencl/step_workers.hpp"

namespace headrace {
namespace {

// An input or output: what the user gave, and which kernel arguments follow it.
struct PortBinding {
  const PlanPort* port = nullptr;
  std::size_t size_bytes = 0;
  std::vector<std::pair<std::size_t, cl_uint>> uses;  // step and argument number
  std::optional<Tensor> tensor;                       // copied from or to, or used in place
  const void* in_place = nullptr;                     // host memory that `own` stands for
  ClMemory own;                                       // USE_HOST_PTR over the user's memory, or the user's cl_mem
  bool is_bound = false;                              // kernels use `own`, not the plan's buffer
  bool is_user_buffer = false;                        // `own` came from set_*_buffer
};

struct Step {
  ClKernel kernel;
  bool is_empty = false;  // nothing to compute: a tensor without elements
  ClEvent event;
};

// A time of the device's clock in ns; 0 where it is not known.
cl_ulong time_of(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  return clGetEventProfilingInfo(event, what, sizeof(time), &time, nullptr) == CL_SUCCESS ? time : 0;
}

double interval_us(cl_ulong begin, cl_ulong end) {
  return begin == 0 || end < begin ? 0.0 : static_cast<double>(end - begin) * 1e-3;
}

double run_us(cl_event event) {
  return interval_us(time_of(event, CL_PROFILING_COMMAND_START), time_of(event, CL_PROFILING_COMMAND_END));
}

class OpenClSession final : public Session {
 public:
  OpenClSession(std::shared_ptr<const LoadedPlan> loaded, std::size_t part)
      : loaded_(std::move(loaded)),
        part_(part),
        queue_(make_queue()),
        buffers_(loaded_, queue_.get()),
        workers_(loaded_, part, queue_.get()) {
    for (std::size_t step = 0; step < loaded_->plan->steps.size(); ++step) steps_.push_back(make_step(step));
    bind_ports(loaded_->plan->inputs, inputs_);
    bind_ports(loaded_->plan->outputs, outputs_);
  }
  OpenClSession(const OpenClSession&) = delete;
  OpenClSession& operator=(const OpenClSession&) = delete;

  // Kernels must not outlive the memory they write.
  ~OpenClSession() override { wait(); }

  void set_input(std::size_t index, const Tensor& tensor) override { set_tensor(at(inputs_, index), tensor); }
  void set_output(std::size_t index, const Tensor& tensor) override {
    check(!tensor.is_read_only(), ErrorCode::kInvalidArgument,
          "output '" + at(outputs_, index).port->name + "' cannot go to read-only memory");
    set_tensor(at(outputs_, index), tensor);
  }
  void set_input_buffer(std::size_t index, void* cl_mem_object) override {
    set_buffer(at(inputs_, index), static_cast<cl_mem>(cl_mem_object));
  }
  void set_output_buffer(std::size_t index, void* cl_mem_object) override {
    set_buffer(at(outputs_, index), static_cast<cl_mem>(cl_mem_object));
  }

  void start() override {
    try {
      const auto begin = std::chrono::steady_clock::now();
      enqueue_all();
      enqueue_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    } catch (...) {
      // What was queued uses the caller's memory: let it end before the caller hears of the error.
      wait();
      throw;
    }
  }
  void finish() override;
  SessionProfile profile() const override { return profile_; }

 private:
  std::string device_text() const { return "device " + loaded_->context->name(); }

  ClQueue make_queue() const {
    const OpenClContext& context = *loaded_->context;
    cl_int code = CL_SUCCESS;
    const cl_command_queue_properties properties = loaded_->is_profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
    ClQueue queue(clCreateCommandQueue(context.get(), context.device(part_), properties, &code));
    check_cl(code, "device " + context.name() + ": making a queue");
    return queue;
  }

  static PortBinding& at(std::vector<PortBinding>& ports, std::size_t index) {
    check(index < ports.size(), ErrorCode::kInvalidArgument,
          "port " + std::to_string(index) + " does not exist, there are " + std::to_string(ports.size()));
    return ports[index];
  }

  void wait() noexcept {
    workers_.wait();
    clFinish(queue_.get());
  }
  Step make_step(std::size_t index);
  void set_args(std::size_t step);
  void set_share(std::size_t step);
  void set_arg(std::size_t step, cl_uint arg, const LaunchArg& value);
  void set_memory_arg(std::size_t step, cl_uint arg, cl_mem memory);
  void bind_ports(const std::vector<PlanPort>& ports, std::vector<PortBinding>& bindings);
  void set_tensor(PortBinding& binding, const Tensor& tensor);
  void set_buffer(PortBinding& binding, cl_mem memory);
  void rebind(PortBinding& binding, ClMemory memory, bool is_bound);
  void enqueue_all();
  void enqueue_input(PortBinding& binding);
  void enqueue_step(std::size_t index);
  void enqueue_output(PortBinding& binding);
  void map_and_unmap(PortBinding& binding, cl_map_flags flags, std::vector<ClEvent>& events);
  void read_profile();

  std::shared_ptr<const LoadedPlan> loaded_;
  std::size_t part_;
  ClQueue queue_;
  SessionBuffers buffers_;
  StepWorkers workers_;
  std::vector<Step> steps_;
  std::vector<PortBinding> inputs_;
  std::vector<PortBinding> outputs_;
  std::vector<ClEvent> write_events_;
  std::vector<ClEvent> read_events_;
  double enqueue_us_ = 0.0;
  SessionProfile profile_;
};

Step OpenClSession::make_step(std::size_t index) {
  const Launch& launch = loaded_->launch(index);
  cl_int code = CL_SUCCESS;
  Step step;
  step.kernel =
      ClKernel(clCreateKernel(loaded_->step_programs[index]->program.get(), launch.instance.entry.c_str(), &code));
  check_cl(code, loaded_->where(index) + ": kernel " + launch.instance.key());
  step.is_empty = launch.global[0] == 0 || launch.global[1] == 0 || launch.global[2] == 0;
  steps_.push_back(std::move(step));
  set_args(index);
  step = std::move(steps_.back());
  steps_.pop_back();
  return step;
}

// ARGS of kernels/common/items.clh stands behind the pointers: the scalars as one struct, then the share.
void OpenClSession::set_args(std::size_t step) {
  const Launch& launch = loaded_->launch(step);
  const auto pointers = static_cast<cl_uint>(count_pointers(launch));
  for (cl_uint arg = 0; arg < pointers; ++arg) set_arg(step, arg, launch.args[arg]);
  if (!launch.instance.is_wide()) {
    for (auto arg = pointers; arg < launch.args.size(); ++arg) set_arg(step, arg, launch.args[arg]);
    return;
  }
  const std::vector<std::byte> scalars = pack_scalars(launch);
  const cl_int code = clSetKernelArg(steps_[step].kernel.get(), pointers, scalars.size(), scalars.data());
  if (code != CL_SUCCESS) fail_cl(code, loaded_->where(step) + ": scalars");
  set_share(step);
}

void OpenClSession::set_share(std::size_t step) {
  const Launch& launch = loaded_->launch(step);
  if (!launch.instance.is_wide()) return;
  set_memory_arg(step, static_cast<cl_uint>(count_pointers(launch)) + 1, workers_.share(step));
}

void OpenClSession::set_arg(std::size_t step, cl_uint arg, const LaunchArg& value) {
  const cl_kernel kernel = steps_[step].kernel.get();
  cl_int code = CL_SUCCESS;
  if (const auto* ref = std::get_if<BufferRef>(&value)) {
    set_memory_arg(step, arg, buffers_.at(*ref, loaded_->where(step)));
  } else if (const auto* integer = std::get_if<std::int32_t>(&value)) {
    code = clSetKernelArg(kernel, arg, sizeof(*integer), integer);
  } else if (const auto* real = std::get_if<float>(&value)) {
    code = clSetKernelArg(kernel, arg, sizeof(*real), real);
  } else {
    code = clSetKernelArg(kernel, arg, std::get<LocalBytes>(value).bytes, nullptr);
  }
  if (code != CL_SUCCESS) fail_cl(code, loaded_->where(step) + ": argument " + std::to_string(arg));
}

void OpenClSession::set_memory_arg(std::size_t step, cl_uint arg, cl_mem memory) {
  const cl_int code = clSetKernelArg(steps_[step].kernel.get(), arg, sizeof(memory), &memory);
  if (code != CL_SUCCESS) fail_cl(code, loaded_->where(step) + ": argument " + std::to_string(arg));
}

void OpenClSession::bind_ports(const std::vector<PlanPort>& ports, std::vector<PortBinding>& bindings) {
  for (const PlanPort& port : ports) {
    PortBinding binding;
    binding.port = &port;
    binding.size_bytes = static_cast<std::size_t>(count_elems(port.shape)) * size_bytes(port.type);
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      const std::vector<LaunchArg>& args = loaded_->launch(step).args;
      for (std::size_t arg = 0; arg < args.size(); ++arg) {
        const auto* ref = std::get_if<BufferRef>(&args[arg]);
        if (ref != nullptr && *ref == port.ref) binding.uses.emplace_back(step, static_cast<cl_uint>(arg));
      }
    }
    bindings.push_back(std::move(binding));
  }
}

// Whether the port's memory can be replaced: nobody uses its buffer at another offset, and it is no other port's.
bool is_replaceable(const DevicePlan& plan, const PlanPort& port) {
  const auto buffer = static_cast<std::size_t>(port.ref.buffer);
  if (port.ref.offset_bytes != 0 || buffer == 0 || plan.buffers[buffer].constant.count() > 0) return false;
  for (const auto* ports : {&plan.inputs, &plan.outputs}) {
    for (const PlanPort& other : *ports) {
      if (&other != &port && other.ref.buffer == port.ref.buffer) return false;
    }
  }
  for (const PlanStep& step : plan.steps) {
    for (const LaunchArg& arg : std::get<Launch>(step.action).args) {
      const auto* ref = std::get_if<BufferRef>(&arg);
      if (ref != nullptr && ref->buffer == port.ref.buffer && ref->offset_bytes != 0) return false;
    }
  }
  return plan.buffers[buffer].size_bytes == static_cast<std::size_t>(count_elems(port.shape)) * size_bytes(port.type);
}

void OpenClSession::set_tensor(PortBinding& binding, const Tensor& tensor) {
  const PlanPort& port = *binding.port;
  if (tensor.type() != port.type || tensor.shape() != port.shape) {
    fail(ErrorCode::kInvalidArgument, "'" + port.name + "' takes " + std::string(to_string(port.type)) + " " +
                                          to_string(port.shape) + ", got " + std::string(to_string(tensor.type())) +
                                          " " + to_string(tensor.shape()));
  }
  const OpenClContext& context = *loaded_->context;
  const bool fits = context.shares_host_memory() &&
                    is_usable_in_place(tensor.data(), binding.size_bytes, kMemoryAlignment, kBufferSlackBytes) &&
                    is_replaceable(*loaded_->plan, port);
  binding.tensor = tensor;
  if (fits && binding.in_place == tensor.data()) return;
  if (!fits) {
    rebind(binding, {}, false);
    return;
  }
  auto* host = const_cast<std::byte*>(tensor.data());
  rebind(binding, context.make_buffer(binding.size_bytes, host, "'" + port.name + "'"), true);
  binding.in_place = host;
}

void OpenClSession::set_buffer(PortBinding& binding, cl_mem memory) {
  const std::string what = device_text() + ": buffer for '" + binding.port->name + "'";
  check(memory != nullptr, ErrorCode::kInvalidArgument, what + " is null");
  std::size_t size = 0;
  check_cl(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, nullptr), what);
  cl_context owner = nullptr;
  check_cl(clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(owner), static_cast<void*>(&owner), nullptr), what);
  check(owner == loaded_->context->get(), ErrorCode::kInvalidArgument, what + " is of another context");
  if (size < binding.size_bytes) {
    fail(ErrorCode::kInvalidArgument,
         what + " has " + std::to_string(size) + " bytes, " + std::to_string(binding.size_bytes) + " are needed");
  }
  // Kernels may read past the end, so a buffer without slack is copied on the device.
  const bool is_direct =
      size >= binding.size_bytes + kBufferSlackBytes && is_replaceable(*loaded_->plan, *binding.port);
  check_cl(clRetainMemObject(memory), what);
  rebind(binding, ClMemory(memory), is_direct);
  binding.is_user_buffer = true;
  binding.tensor.reset();
}

void OpenClSession::rebind(PortBinding& binding, ClMemory memory, bool is_bound) {
  if (is_bound || binding.is_bound) {
    for (const auto& [step, arg] : binding.uses) {
      set_memory_arg(step, arg, is_bound ? memory.get() : buffers_.at(binding.port->ref, loaded_->where(step)));
    }
  }
  binding.own = std::move(memory);
  binding.is_bound = is_bound;
  binding.in_place = nullptr;
  binding.is_user_buffer = false;
}

void OpenClSession::enqueue_all() {
  write_events_.clear();
  read_events_.clear();
  for (PortBinding& input : inputs_) enqueue_input(input);
  workers_.begin();
  for (std::size_t step = 0; step < steps_.size(); ++step) enqueue_step(step);
  for (PortBinding& output : outputs_) enqueue_output(output);
  check_cl(clFlush(queue_.get()), device_text() + ": starting the run");
  workers_.flush();
}

// Hands host memory over between host and device, as OpenCL wants it for USE_HOST_PTR. Free of copies where the
// device works in that memory.
void OpenClSession::map_and_unmap(PortBinding& binding, cl_map_flags flags, std::vector<ClEvent>& events) {
  cl_int code = CL_SUCCESS;
  cl_event event = nullptr;
  void* mapped = clEnqueueMapBuffer(queue_.get(), binding.own.get(), CL_FALSE, flags, 0, binding.size_bytes, 0, nullptr,
                                    loaded_->is_profiling ? &event : nullptr, &code);
  if (event != nullptr) events.emplace_back(event);
  if (code == CL_SUCCESS) {
    code = clEnqueueUnmapMemObject(queue_.get(), binding.own.get(), mapped, 0, nullptr, nullptr);
  }
  if (code != CL_SUCCESS) fail_cl(code, device_text() + ": sharing '" + binding.port->name + "'");
}

void OpenClSession::enqueue_input(PortBinding& binding) {
  if (binding.size_bytes == 0) return;
  const PlanPort& port = *binding.port;
  if (binding.is_bound) {
    if (!binding.is_user_buffer) map_and_unmap(binding, CL_MAP_WRITE, write_events_);
    return;
  }
  const auto offset = static_cast<std::size_t>(port.ref.offset_bytes);
  cl_mem target = buffers_.at({port.ref.buffer, 0}, port.name);
  cl_event event = nullptr;
  cl_event* event_slot = loaded_->is_profiling ? &event : nullptr;
  cl_int code = CL_SUCCESS;
  if (binding.is_user_buffer) {
    code = clEnqueueCopyBuffer(queue_.get(), binding.own.get(), target, 0, offset, binding.size_bytes, 0, nullptr,
                               event_slot);
  } else {
    check(binding.tensor.has_value(), ErrorCode::kInvalidArgument, "input '" + port.name + "' was not given");
    code = clEnqueueWriteBuffer(queue_.get(), target, CL_FALSE, offset, binding.size_bytes, binding.tensor->data(), 0,
                                nullptr, event_slot);
  }
  if (event != nullptr) write_events_.emplace_back(event);
  if (code != CL_SUCCESS) fail_cl(code, device_text() + ": writing input '" + port.name + "'");
}

void OpenClSession::enqueue_step(std::size_t index) {
  Step& step = steps_[index];
  step.event.reset();
  if (step.is_empty) return;
  cl_event event = nullptr;
  const cl_int code = workers_.enqueue(index, step.kernel.get(), loaded_->is_profiling ? &event : nullptr);
  step.event = ClEvent(event);
  if (code != CL_SUCCESS) fail_cl(code, loaded_->where(index));
}

void OpenClSession::enqueue_output(PortBinding& binding) {
  if (binding.size_bytes == 0) return;
  const PlanPort& port = *binding.port;
  if (binding.is_bound) {
    if (!binding.is_user_buffer) map_and_unmap(binding, CL_MAP_READ, read_events_);
    return;
  }
  const auto offset = static_cast<std::size_t>(port.ref.offset_bytes);
  cl_mem source = buffers_.at({port.ref.buffer, 0}, port.name);
  cl_event event = nullptr;
  cl_event* event_slot = loaded_->is_profiling ? &event : nullptr;
  cl_int code = CL_SUCCESS;
  if (binding.is_user_buffer) {
    code = clEnqueueCopyBuffer(queue_.get(), source, binding.own.get(), offset, 0, binding.size_bytes, 0, nullptr,
                               event_slot);
  } else if (binding.tensor.has_value()) {
    code = clEnqueueReadBuffer(queue_.get(), source, CL_FALSE, offset, binding.size_bytes,
                               binding.tensor->mutable_data(), 0, nullptr, event_slot);
  }
  if (event != nullptr) read_events_.emplace_back(event);
  if (code != CL_SUCCESS) fail_cl(code, device_text() + ": reading output '" + port.name + "'");
}

void OpenClSession::finish() {
  check_cl(clFinish(queue_.get()), device_text() + ": running the network");
  if (workers_.finish()) {
    for (std::size_t step = 0; step < steps_.size(); ++step) set_share(step);
  }
  if (loaded_->is_profiling) read_profile();
}

void OpenClSession::read_profile() {
  SessionProfile profile;
  profile.enqueue_us = enqueue_us_;
  cl_ulong last_end = workers_.is_on() ? workers_.ready_ns() : 0;
  for (const Step& step : steps_) {
    StepProfile figures;
    if (step.event) {
      const cl_ulong queued = time_of(step.event.get(), CL_PROFILING_COMMAND_QUEUED);
      cl_ulong begin = time_of(step.event.get(), CL_PROFILING_COMMAND_START);
      const cl_ulong end = time_of(step.event.get(), CL_PROFILING_COMMAND_END);
      // The helpers may have begun, or done it all, before the first queue came to it: a step begins when the one
      // before it is done.
      if (workers_.is_on()) begin = std::min(begin, std::max(queued, last_end));
      figures.device_us = interval_us(begin, end);
      figures.queue_us = interval_us(queued, begin);
      last_end = end;
    }
    profile.steps.push_back(figures);
  }
  for (const ClEvent& event : write_events_) {
    profile.write_us += run_us(event.get());
  }
  for (const ClEvent& event : read_events_) {
    profile.read_us += run_us(event.get());
  }
  profile_ = std::move(profile);
}

}  // namespace

std::unique_ptr<Session> make_opencl_session(std::shared_ptr<const LoadedPlan> loaded, std::size_t part) {
  return std::make_unique<OpenClSession>(std::move(loaded), part);
}

}  // namespace headrace
