// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a session on several queues of a device of host cores, so that no thread sleeps between them.
#pragma once

#include <memory>
#include <vector>

#include "device/opencl/aligned_memory.hpp"
#include "device/opencl/opencl_executable.hpp"

namespace headrace {

// Each queue runs every step as a launch of few work-items that share the step's items (kernels/common/items.clh).
// A step is done in all queues at the same time, and the next one starts at once in threads that are still awake.
// One thread at a time.
class StepWorkers {
 public:
  // `first` is the session's own queue on a part of the device; further ones are made here. On devices that do not
  // work in the host's memory, or have one compute unit, it is off: there `enqueue` starts an ordinary NDRange, and the
  // others do nothing.
  StepWorkers(std::shared_ptr<const LoadedPlan> loaded, std::size_t part, cl_command_queue first);

  bool is_on() const { return !helpers_.empty(); }
  // The argument SHARE of a step's kernel; null where it is an ordinary NDRange.
  cl_mem share(std::size_t step) const { return is_on() ? shares_[step].get() : nullptr; }

  // Before the first step of a run, behind everything that its inputs need in the first queue.
  void begin();
  // Starts a step in all queues. `event` is the first queue's.
  cl_int enqueue(std::size_t step, cl_kernel kernel, cl_event* event);
  void flush();
  // When the run's first step could begin, by the device's clock; 0 where its first queue keeps no times.
  cl_ulong ready_ns() const;
  // Waits for the queues that were made here. Returns true where it has switched itself off, since the helpers did not
  // run beside the first queue: arguments must be set again.
  bool finish();
  // The same without looking at what they did; never throws.
  void wait() noexcept;

 private:
  void make_shares();
  bool are_helpers_idle();

  std::shared_ptr<const LoadedPlan> loaded_;
  cl_command_queue first_ = nullptr;
  AlignedMemory memory_;
  ClMemory state_;                // kShareInts ints per step
  std::vector<ClMemory> shares_;  // parts of state_, per step
  std::vector<cl_int> at_begin_;  // contents of state_ before a run
  std::vector<ClQueue> helpers_;
  std::vector<char> has_started_;  // per helper, in this run
  ClEvent ready_;                  // state_ and inputs are written
  std::size_t items_per_launch_ = 1;
  int trial_runs_left_ = 4;
};

}  // namespace headrace
