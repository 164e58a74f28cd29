// SPDX-License-Identifier: Apache-2.0
// The limits of a device, measured with the kernels of peaks.cl.
#pragma once

#include <string>

#include "device/opencl/opencl_device.hpp"

namespace headrace::bench {

struct Peaks {
  double flops = 0.0;         // multiply-adds in registers, per second
  double memory_bytes = 0.0;  // read and written while copying arrays larger than caches, per second
  double cache_bytes = 0.0;   // the same on arrays that stay in the nearest cache
};

Peaks measure_peaks(const std::string& device_name, OpenClOptions options);

}  // namespace headrace::bench
