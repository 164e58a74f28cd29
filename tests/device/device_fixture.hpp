// SPDX-License-Identifier: Apache-2.0
// Small kernels and plans for the device tests, which need no operator and no graph.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/log.hpp"
#include "core/tensor.hpp"
#include "device/device.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace::test {

// A folder that goes away with its owner.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

 private:
  std::string path_;
};

// Collects warnings while it lives.
class LogCollector {
 public:
  LogCollector();
  LogCollector(const LogCollector&) = delete;
  LogCollector& operator=(const LogCollector&) = delete;
  ~LogCollector();
  std::vector<std::string> warnings() const { return *warnings_; }

 private:
  std::shared_ptr<std::vector<std::string>> warnings_ = std::make_shared<std::vector<std::string>>();
};

// Writes the test kernels: scale.cl with scale_f32 (dst = a * src + b) and sum_f32 (dst = src + other), and group.cl
// with group_f32, which needs a work-group of 16.
void write_test_kernels(const std::string& folder);

// y = scale * x + offset on `shape`, in `layer_count` steps (the first ones through the arena with scale 1, offset 1).
std::shared_ptr<const DevicePlan> make_scale_plan(const Shape& shape, float scale, float offset, int layer_count = 1);

// One launch of a kernel without buffers of its own, for limits.
KernelInstance scale_instance();
KernelInstance sum_instance();

// Device names without problems: every device that the loader lists, or the one of HEADRACE_TEST_DEVICE=CL.n.
std::vector<std::string> usable_device_names();

// Runs a plan with one input and one output once.
Tensor run_once(const Device& device, const std::shared_ptr<const DevicePlan>& plan, const Tensor& input);

// Values 0, 1, 2, ...
Tensor counting_tensor(const Shape& shape);

// Expects actual[i] == scale * i + offset, bit for bit.
void expect_scaled(const Tensor& actual, float scale, float offset);

// Reads and replaces a whole file.
std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

// The message of the Error that `action` throws; a failure where it throws none.
template <typename Action>
std::string error_message(Action action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace headrace::test
