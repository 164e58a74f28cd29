// SPDX-License-Identifier: Apache-2.0
// Makes OpenCL devices.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace headrace {

struct OpenClOptions {
  std::string cache_dir{};   // compiled programs; empty: none
  std::string state_dir{};   // what is programmed on which device; empty: none
  std::string kernel_dir{};  // kernels to read instead of the built-in texts; empty: built-in
  std::string builder{};     // program that compiles in processes of its own (find_builder()); empty: none
};

// Makes the device of that name, alias or part ("CL.0", "POCL", "POCL#0/2"). Opens it at the first caps() or load().
// Throws kInvalidArgument listing the devices where there is none of that name.
std::unique_ptr<Device> make_opencl_device(std::string_view name, const OpenClOptions& options);

// A device divided into equal parts, which share one context: programs, constants and memory objects.
struct DividedDevice {
  std::unique_ptr<Device> all;                 // all parts as one device: a session runs on one of them
  std::vector<std::unique_ptr<Device>> parts;  // "CL.0#0/2", "CL.0#1/2"
};

// Divides the device of that name or alias. Opens it at the first caps() or load(). Throws kInvalidArgument where it
// cannot be divided into so many.
DividedDevice divide_opencl_device(std::string_view name, int parts, const OpenClOptions& options);

}  // namespace headrace
