// SPDX-License-Identifier: Apache-2.0
// The limits of a device, measured with the kernels of peaks.cl.
#pragma once

#include "device/device.hpp"

namespace headrace {

// All per second. 0 where the device cannot run OpenCL kernels or its bitstream lacks these.
// Each takes the best of several launches: a peak is what a device can do, not what others leave of it.

// Operations of multiply-adds in registers. Takes 50 ms on a CPU, and 100 ms more where nothing is cached yet.
double measure_peak_flops(const Device& device);

// Bytes read and written while copying arrays that are larger than caches. Takes 512 MiB and a second.
double measure_memory_bytes(const Device& device);

// The same on arrays that stay in the nearest cache.
double measure_cache_bytes(const Device& device);

// A plan without ports that copies an array of about this size. Run before a kernel, it leaves the caches as other
// layers of a network would. Null where the device does not offer its kernel.
std::shared_ptr<const DevicePlan> make_copy_plan(const KernelCaps& caps, std::size_t array_bytes);

}  // namespace headrace
