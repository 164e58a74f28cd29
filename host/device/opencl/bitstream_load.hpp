// SPDX-License-Identifier: Apache-2.0
// From a checked bitstream to programs on a device.
#pragma once

#include <optional>
#include <string>

#include "device/opencl/bitstream.hpp"
#include "device/opencl/cl_handle.hpp"
#include "device/opencl/opencl_context.hpp"

namespace headrace {

// Why the bitstream is not for this device, naming both, or nothing where it fits.
std::optional<std::string> find_target_mismatch(const Bitstream& bitstream, const DeviceInfo& device);

struct ImageLoad {
  ClProgram program;    // null where no image could be loaded
  std::string problem;  // why the last one could not
};

// Loads the first image that the device takes; a source image needs a compiler.
ImageLoad load_bitstream_program(const OpenClContext& context, const BitstreamProgram& program);

}  // namespace headrace
