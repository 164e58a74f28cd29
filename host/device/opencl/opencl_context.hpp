// SPDX-License-Identifier: Apache-2.0
// An open OpenCL device, whole or divided into equal parts: its context and its limits.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/caps.hpp"
#include "device/opencl/cl_handle.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

// Kernels may read this many bytes past the end of a buffer, so that a vector load needs no mask.
inline constexpr std::size_t kBufferSlackBytes = 128;

// Immutable, thread-safe.
class OpenClContext {
 public:
  // Opens the device, or divides it and opens all parts together: they share programs and memory. Throws kDevice, or
  // kInvalidArgument where it cannot be divided into so many.
  explicit OpenClContext(const OpenClDeviceEntry& entry, int parts = 1);

  // "CL.0", or "CL.0 (2 parts)", for messages.
  const std::string& name() const { return name_; }
  // Of the whole device.
  const DeviceInfo& info() const { return info_; }
  cl_platform_id platform() const { return platform_; }
  // The whole device, or its parts.
  const std::vector<cl_device_id>& devices() const { return devices_; }
  cl_device_id device(std::size_t part = 0) const { return devices_[part]; }
  cl_context get() const { return context_.get(); }

  // Of one part. Without the programmed bitstream.
  const KernelCaps& caps() const { return caps_; }
  // Whether kernels run in the host's memory, so that aligned host memory can be used in place.
  bool shares_host_memory() const { return shares_host_memory_; }
  // Whether the runtime makes machine code at a kernel's first launch (PoCL), not when the program is built. Such a
  // program's binary, made at once, spares it doing so again for the cache.
  bool compiles_at_launch() const { return info_.platform == kPoclPlatform; }
  // "-cl-std=CL1.2" or, on older devices, nothing.
  std::string_view language_option() const { return language_option_; }

  // Makes a buffer of size_bytes that is zero-filled or, where host is given, lives there. Checks the size first:
  // throws kOutOfMemory naming `what`, wanted and allowed bytes.
  ClMemory make_buffer(std::size_t size_bytes, void* host, std::string_view what, bool is_read_only = false) const;

 private:
  std::string name_;
  DeviceInfo info_;
  cl_platform_id platform_ = nullptr;
  std::vector<cl_device_id> devices_;
  ClContext context_;
  KernelCaps caps_;
  bool shares_host_memory_ = false;
  std::string_view language_option_;
};

}  // namespace headrace
