// SPDX-License-Identifier: Apache-2.0
// A device that records what it is asked to run and computes nothing: for tests of plans, requests and timetables.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace headrace {

// What happened, in order: "load 3 steps", "session", "start", "step conv1 (conv_wide_f32)", "finish". Thread-safe.
class NullRecord {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Lowering sees the given capabilities. Outputs keep what their memory holds. The record may be shared by devices.
std::unique_ptr<Device> make_null_device(const std::string& name, const KernelCaps& caps,
                                         std::shared_ptr<NullRecord> record);

}  // namespace headrace
