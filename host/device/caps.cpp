// SPDX-License-Identifier: Apache-2.0
#include "device/caps.hpp"

namespace headrace {

std::string_view to_string(DeviceType type) {
  switch (type) {
    case DeviceType::kCpuFallback: return "CPU";
    case DeviceType::kCpu: return "OpenCL CPU";
    case DeviceType::kGpu: return "GPU";
    case DeviceType::kAccelerator: return "accelerator";
  }
  return "unknown";
}

}  // namespace headrace
