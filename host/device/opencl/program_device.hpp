// SPDX-License-Identifier: Apache-2.0
// Programs a bitstream onto a device: verify, load, self-test, remember.
#pragma once

#include <string>
#include <string_view>

#include "device/opencl/opencl_device.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

struct ProgramResult {
  std::string device;     // "CL.0"
  std::string bitstream;  // its name
  std::string uuid;
  bool was_programmed = false;  // the same UUID was there already: nothing was done
  double load_ms = 0.0;         // loading every program and the self-test
  int kernels = 0;
};

// Devices opened after it use the bitstream. A failure leaves what was programmed before in place.
// Throws kIo (unreadable), kBadModel (damaged), kUnsupported (for another device or driver, or a kernel is missing),
// kDevice (self-test failed), kInvalidArgument (no such device).
ProgramResult program_device(std::string_view device, const std::string& bitstream_path, const OpenClOptions& options);

// Forgets what is programmed, damaged or not. Returns its name, "(damaged)", or "" where there was nothing.
std::string erase_device(std::string_view device, const OpenClOptions& options);

// The name of what is programmed, "(damaged)", or "". Makes no OpenCL call, never throws.
std::string programmed_name(const OpenClDeviceEntry& entry, const std::string& state_dir) noexcept;

}  // namespace headrace
