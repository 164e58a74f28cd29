// SPDX-License-Identifier: Apache-2.0
// The device interface: a device loads a DevicePlan once, and every request runs it in a Session of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor.hpp"
#include "device/caps.hpp"

namespace headrace {

// Where a kernel argument points: a plan buffer plus a byte offset. Buffer -1 is a null pointer.
struct BufferRef {
  std::int32_t buffer = -1;
  std::int64_t offset_bytes = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

struct LocalBytes {
  std::size_t bytes = 0;
};

// One kernel argument. Integers are int (32 bit) in the kernel.
using LaunchArg = std::variant<BufferRef, std::int32_t, float, LocalBytes>;

struct Launch {
  KernelInstance instance;
  std::vector<LaunchArg> args;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
};

// A dense row-major tensor inside a plan buffer of the CPU device.
struct HostOperand {
  BufferRef ref;
  ElementType type = ElementType::f32;
  Shape shape;
};

// A call of a host function on dense row-major tensors; only the CPU device runs these.
struct HostCall {
  std::function<void(std::span<const Tensor> inputs, std::span<Tensor> outputs)> function;
  std::vector<HostOperand> inputs;
  std::vector<HostOperand> outputs;
};

struct PlanStep {
  std::string layer;   // the layer's name, for profile and errors
  std::string type;    // its operator type
  std::string kernel;  // what runs: kernel entry or host function
  std::variant<Launch, HostCall> action;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;  // read and written, at least
};

// A buffer of a plan. Constants hold their bytes; a buffer without a constant is zero-filled once per session.
struct PlanBuffer {
  std::size_t size_bytes = 0;
  Tensor constant;   // count() > 0: contents, shared by every session, never written
  std::string name;  // for errors: "arena", "weights of 'conv1'"
};

// A network input or output of the subgraph: dense row-major in host order, at a place in a buffer.
struct PlanPort {
  std::string name;
  BufferRef ref;
  ElementType type = ElementType::f32;
  Shape shape;
};

// Everything that a device needs to run one subgraph for one set of input shapes. Immutable after planning.
struct DevicePlan {
  std::vector<PlanBuffer> buffers;  // [0] is the arena
  std::vector<PlanStep> steps;      // run in order
  std::vector<PlanPort> inputs;
  std::vector<PlanPort> outputs;
};

struct StepProfile {
  double device_us = 0.0;  // running, on whichever of the device's queues
  double queue_us = 0.0;   // from enqueue to start
};

struct SessionProfile {
  std::vector<StepProfile> steps;  // one per plan step
  double write_us = 0.0;           // inputs to the device
  double read_us = 0.0;            // outputs from the device
  double enqueue_us = 0.0;         // start(), where the device works meanwhile; 0 where start() does the work
};

// One request's state on a device: queue, arena, kernel objects. One thread at a time.
class Session {
 public:
  virtual ~Session() = default;
  // Hands input `index` over; the tensor must stay alive and unchanged until finish() returns.
  virtual void set_input(std::size_t index, const Tensor& tensor) = 0;
  // Names the memory that output `index` goes to.
  virtual void set_output(std::size_t index, const Tensor& tensor) = 0;
  // Where a run may be told to end early: start() or finish() then throws kCancelled. Devices that cannot stop in the
  // middle ignore it. Holds for the runs that follow.
  virtual void set_stop(std::stop_token /*stop*/) {}
  // The same with a memory object of the device (a cl_mem of Device::native_context()) that holds the port's dense
  // row-major elements; retained until the next set_*. Throws kUnsupported on devices without such objects.
  virtual void set_input_buffer(std::size_t index, void* memory_object);
  virtual void set_output_buffer(std::size_t index, void* memory_object);
  // Starts input transfers, all steps and output transfers; does not wait where the device is asynchronous.
  virtual void start() = 0;
  // Waits until everything that start() began is done. Throws the first error.
  virtual void finish() = 0;
  // Figures of the last finished run; empty steps where profiling was off at load.
  virtual SessionProfile profile() const = 0;
};

// A plan loaded on a device: programs built, constants uploaded. Immutable, shared by sessions in any thread.
class Executable {
 public:
  virtual ~Executable() = default;
  // Makes a session that runs on one part of the device (see Device::part_count).
  virtual std::unique_ptr<Session> make_session(std::size_t part) const = 0;
  std::unique_ptr<Session> make_session() const { return make_session(0); }
  // For each step where its kernel came from: "bitstream NAME", "cache", "source", "host".
  virtual std::vector<std::string> step_origins() const = 0;
};

struct LoadOptions {
  bool is_profiling = false;
  int threads = 0;  // that a run may use on the CPU device; 0: as many as there are cores. Others ignore it
};

// Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Parts that run sessions at the same time without waiting for each other; they share programs and constants. 1: the
  // device is whole.
  virtual std::size_t part_count() const { return 1; }
  // What lowering may use now of one part, the programmed bitstream included. May open the device, never compiles.
  virtual KernelCaps caps() const = 0;
  // How many programs load() would have to compile first.
  virtual std::size_t count_unbuilt(const DevicePlan& /*plan*/) const { return 0; }
  // Keeps what it needs of the plan alive. Throws kBuild, kDevice, kOutOfMemory or kUnsupported.
  virtual std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan,
                                           const LoadOptions& options) const = 0;
  // The cl_context in which buffers for set_*_buffer must be made; null on devices without one.
  virtual void* native_context() const { return nullptr; }
};

}  // namespace headrace
