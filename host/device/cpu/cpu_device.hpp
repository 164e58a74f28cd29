// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: runs plans of host calls on the calling thread.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace headrace {

// Runs plans whose steps are all HostCalls. start() runs on the calling thread and returns when the run is done.
// Inputs and outputs are read and written in the caller's memory wherever the plan's use of the arena allows it.
// Thread-safe.
class CpuDevice final : public Device {
 public:
  CpuDevice();

  const DeviceInfo& info() const override { return info_; }
  KernelCaps caps() const override;
  // Throws kUnsupported where a step is a kernel launch, kInternal where an operand leaves its buffer.
  std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const override;

 private:
  DeviceInfo info_;
};

}  // namespace headrace
