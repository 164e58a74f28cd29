// SPDX-License-Identifier: Apache-2.0
// An open OpenCL device: its context and its limits.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "device/caps.hpp"
#include "device/opencl/cl_handle.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

// Kernels may read this many bytes past the end of a buffer, so that a vector load needs no mask.
inline constexpr std::size_t kBufferSlackBytes = 128;

// Immutable, thread-safe.
class OpenClContext {
 public:
  // Opens the device or a part of it. Throws kDevice or kInvalidArgument (a part smaller than one compute unit).
  OpenClContext(const OpenClDeviceEntry& entry, const OpenClDeviceName& name);

  const std::string& name() const { return name_; }
  const DeviceInfo& info() const { return info_; }
  cl_platform_id platform() const { return platform_; }
  cl_device_id device() const { return device_; }
  cl_context get() const { return context_.get(); }

  // Without the programmed bitstream.
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
  ClDevice sub_device_;
  cl_device_id device_ = nullptr;
  ClContext context_;
  KernelCaps caps_;
  bool shares_host_memory_ = false;
  std::string_view language_option_;
};

}  // namespace headrace
