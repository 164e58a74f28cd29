// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include "device/cpu/thread_limit.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::string step_name(const PlanStep& step) { return "layer '" + step.layer + "' (" + step.type + ")"; }

void check_operand(const DevicePlan& plan, const PlanStep& step, const HostOperand& operand) {
  const BufferRef& ref = operand.ref;
  HEADRACE_ASSERT(ref.buffer >= 0 && static_cast<std::size_t>(ref.buffer) < plan.buffers.size(),
                  "host operand outside the plan's buffers");
  const PlanBuffer& buffer = plan.buffers[static_cast<std::size_t>(ref.buffer)];
  const auto bytes = static_cast<std::size_t>(count_elems(operand.shape)) * size_bytes(operand.type);
  if (ref.offset_bytes < 0 || static_cast<std::size_t>(ref.offset_bytes) + bytes > buffer.size_bytes) {
    fail(ErrorCode::kInternal, step_name(step) + ": operand leaves buffer '" + buffer.name + "'");
  }
}

void check_plan(const DevicePlan& plan) {
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<HostCall>(&step.action);
    if (call == nullptr) {
      fail(ErrorCode::kUnsupported, step_name(step) + ": an OpenCL kernel cannot run on the device CPU");
    }
    for (const HostOperand& operand : call->inputs) check_operand(plan, step, operand);
    for (const HostOperand& operand : call->outputs) check_operand(plan, step, operand);
  }
}

// An operand of a step, by position.
struct OperandUse {
  std::size_t step = 0;
  bool is_output = false;
  std::size_t operand = 0;
};

// How the caller's memory takes the place of a port's buffer.
struct PortBinding {
  bool is_direct = false;        // false: copied to or from the buffer
  std::vector<OperandUse> uses;  // every operand in the port's buffer, where direct
};

struct PortBindings {
  std::vector<PortBinding> inputs;
  std::vector<PortBinding> outputs;
};

// A port is direct when its buffer holds nothing else: not the arena, no constant, no other port, and, for an input,
// nothing that a step writes (the caller's memory must stay as it is).
PortBinding bind_port_buffer(const DevicePlan& plan, const PlanPort& port, bool is_input) {
  const std::int32_t buffer = port.ref.buffer;
  const auto is_in_buffer = [&](const PlanPort& other) { return other.ref.buffer == buffer; };
  const auto sharers = std::count_if(plan.inputs.begin(), plan.inputs.end(), is_in_buffer) +
                       std::count_if(plan.outputs.begin(), plan.outputs.end(), is_in_buffer);
  const bool is_constant = plan.buffers[static_cast<std::size_t>(buffer)].constant.count() > 0;
  if (buffer == 0 || is_constant || sharers != 1) return {};
  PortBinding binding{.is_direct = true, .uses = {}};
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& call = std::get<HostCall>(plan.steps[s].action);
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i].ref.buffer == buffer) binding.uses.push_back({s, false, i});
    }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i].ref.buffer != buffer) continue;
      if (is_input) return {};
      binding.uses.push_back({s, true, i});
    }
  }
  return binding;
}

PortBindings bind_ports(const DevicePlan& plan) {
  PortBindings bindings;
  for (const PlanPort& port : plan.inputs) bindings.inputs.push_back(bind_port_buffer(plan, port, true));
  for (const PlanPort& port : plan.outputs) bindings.outputs.push_back(bind_port_buffer(plan, port, false));
  return bindings;
}

// The tensors of one step, ready to be handed to its function.
struct BoundStep {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options)
      : plan_(std::move(plan)), bindings_(bind_ports(*plan_)), options_(options) {}

  std::unique_ptr<Session> make_session(std::size_t part) const override;
  std::vector<std::string> step_origins() const override {
    return std::vector<std::string>(plan_->steps.size(), "host");
  }

 private:
  std::shared_ptr<const DevicePlan> plan_;
  PortBindings bindings_;
  LoadOptions options_;
};

class CpuSession final : public Session {
 public:
  CpuSession(std::shared_ptr<const DevicePlan> plan, const PortBindings& bindings, const LoadOptions& options)
      : plan_(std::move(plan)), bindings_(bindings), options_(options) {
    make_buffers();
    for (const PlanStep& step : plan_->steps) steps_.push_back(bind_step(std::get<HostCall>(step.action)));
    inputs_.resize(plan_->inputs.size());
    outputs_.resize(plan_->outputs.size());
  }

  void set_input(std::size_t index, const Tensor& tensor) override {
    check_port(plan_->inputs.at(index), tensor);
    inputs_[index] = tensor;
    bind_port(plan_->inputs[index], bindings_.inputs[index], tensor);
  }

  void set_output(std::size_t index, const Tensor& tensor) override {
    check_port(plan_->outputs.at(index), tensor);
    outputs_[index] = tensor;
    bind_port(plan_->outputs[index], bindings_.outputs[index], tensor);
  }

  void set_stop(std::stop_token stop) override { stop_ = std::move(stop); }

  void start() override {
    const ThreadLimit limit(options_.threads);
    profile_ = {};
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < inputs_.size(); ++i) copy_input(i);
    profile_.write_us = us_since(begin);
    for (std::size_t s = 0; s < steps_.size(); ++s) run_step(s);
    const auto end = Clock::now();
    for (std::size_t i = 0; i < outputs_.size(); ++i) copy_output(i);
    profile_.read_us = us_since(end);
  }

  void finish() override {}

  SessionProfile profile() const override { return profile_; }

 private:
  void make_buffers() {
    for (const PlanBuffer& buffer : plan_->buffers) {
      if (buffer.constant.count() > 0) {
        buffers_.push_back(const_cast<std::byte*>(buffer.constant.data()));  // never an output: see check_port
        continue;
      }
      Tensor memory(ElementType::u8, {static_cast<std::int64_t>(buffer.size_bytes)});
      buffers_.push_back(memory.mutable_data());
      memory_.push_back(std::move(memory));
    }
  }

  std::byte* place(const BufferRef& ref) const {
    return buffers_[static_cast<std::size_t>(ref.buffer)] + ref.offset_bytes;
  }

  Tensor arena_tensor(const HostOperand& operand) const { return {operand.type, operand.shape, place(operand.ref)}; }

  BoundStep bind_step(const HostCall& call) const {
    BoundStep step;
    for (const HostOperand& operand : call.inputs) step.inputs.push_back(arena_tensor(operand));
    for (const HostOperand& operand : call.outputs) step.outputs.push_back(arena_tensor(operand));
    return step;
  }

  static void check_port(const PlanPort& port, const Tensor& tensor) {
    if (tensor.type() == port.type && tensor.shape() == port.shape) return;
    fail(ErrorCode::kInvalidArgument, "'" + port.name + "' takes " + std::string(to_string(port.type)) +
                                          to_string(port.shape) + ", given " + std::string(to_string(tensor.type())) +
                                          to_string(tensor.shape()));
  }

  static bool is_usable(const PortBinding& binding, const Tensor& tensor) {
    return binding.is_direct && reinterpret_cast<std::uintptr_t>(tensor.data()) % size_bytes(tensor.type()) == 0;
  }

  // Points the operands that use the port at the caller's tensor, or back at the arena where it is unaligned.
  void bind_port(const PlanPort& port, const PortBinding& binding, const Tensor& tensor) {
    const std::byte* data = is_usable(binding, tensor) ? tensor.data() : place(port.ref);
    for (const OperandUse& use : binding.uses) {
      const auto& call = std::get<HostCall>(plan_->steps[use.step].action);
      const HostOperand& operand = use.is_output ? call.outputs[use.operand] : call.inputs[use.operand];
      BoundStep& step = steps_[use.step];
      Tensor& bound = use.is_output ? step.outputs[use.operand] : step.inputs[use.operand];
      const std::int64_t offset = operand.ref.offset_bytes - port.ref.offset_bytes;
      bound = Tensor(operand.type, operand.shape, const_cast<std::byte*>(data + offset));
    }
  }

  void copy_input(std::size_t i) {
    const Tensor& tensor = inputs_[i];
    HEADRACE_ASSERT(tensor.shape() == plan_->inputs[i].shape, "session started before every input was set");
    if (!is_usable(bindings_.inputs[i], tensor) && tensor.size_bytes() != 0) {
      std::memcpy(place(plan_->inputs[i].ref), tensor.data(), tensor.size_bytes());
    }
  }

  void copy_output(std::size_t i) {
    Tensor& tensor = outputs_[i];
    HEADRACE_ASSERT(tensor.shape() == plan_->outputs[i].shape, "session started before every output was set");
    if (!is_usable(bindings_.outputs[i], tensor) && tensor.size_bytes() != 0) {
      std::memcpy(tensor.mutable_data(), place(plan_->outputs[i].ref), tensor.size_bytes());
    }
  }

  void run_step(std::size_t s) {
    const PlanStep& step = plan_->steps[s];
    if (stop_.stop_requested()) fail(ErrorCode::kCancelled, "the run was cancelled before " + step_name(step));
    const auto begin = Clock::now();
    try {
      std::get<HostCall>(step.action).function(steps_[s].inputs, steps_[s].outputs);
    } catch (const Error& error) {
      rethrow_with_prefix(error, step_name(step));
    } catch (const std::bad_alloc&) {
      fail(ErrorCode::kOutOfMemory, step_name(step) + ": no host memory");
    } catch (const std::exception& error) {
      fail(ErrorCode::kInternal, step_name(step) + ": " + error.what());
    }
    if (options_.is_profiling) profile_.steps.push_back({us_since(begin), 0.0});
  }

  std::shared_ptr<const DevicePlan> plan_;
  PortBindings bindings_;
  LoadOptions options_;
  std::vector<Tensor> memory_;       // what this session owns
  std::vector<std::byte*> buffers_;  // one per plan buffer
  std::vector<BoundStep> steps_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::stop_token stop_;
  SessionProfile profile_;
};

std::unique_ptr<Session> CpuExecutable::make_session(std::size_t /*part*/) const {
  return std::make_unique<CpuSession>(plan_, bindings_, options_);
}

// The processor's own name, or what stands in for it where the system has no /proc.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "host processor";
}

}  // namespace

CpuDevice::CpuDevice() {
  info_.name = "CPU";
  info_.type = DeviceType::kCpuFallback;
  info_.description = processor_name();
  info_.platform = "Headrace";
  info_.version = "host";
}

KernelCaps CpuDevice::caps() const {
  KernelCaps caps;
  caps.type = DeviceType::kCpuFallback;
  caps.compute_units = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  caps.has_compiler = false;
  return caps;
}

std::unique_ptr<Executable> CpuDevice::load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const {
  check_plan(*plan);
  return std::make_unique<CpuExecutable>(std::move(plan), options);
}

}  // namespace headrace
