// SPDX-License-Identifier: Apache-2.0
// Equal parts of an OpenCL device.
#pragma once

#include <vector>

#include "device/opencl/cl_handle.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

// The sub-devices of a division into `parts` equal ones; what does not make a whole part is left over. The same ones
// each time in a process, and they live until it ends: PoCL (3.1 to 7.1) lets go of a queue's context before it gives
// the queue back to its device, on a thread of its own that may still be at it after clFinish, so a sub-device whose
// last reference the context holds is gone by then. Thread-safe. Throws kInvalidArgument or kDevice.
std::vector<cl_device_id> sub_devices(const OpenClDeviceEntry& entry, int parts);

}  // namespace headrace
