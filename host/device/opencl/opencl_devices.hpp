// SPDX-License-Identifier: Apache-2.0
// Lists OpenCL devices and finds them by name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/caps.hpp"

namespace headrace {

// PoCL's platform name.
inline constexpr std::string_view kPoclPlatform = "Portable Computing Language";

// One device, or (empty info.name) a platform that could not be used and why.
struct OpenClDeviceEntry {
  DeviceInfo info;
  int compute_units = 0;
  std::size_t global_bytes = 0;
  bool has_compiler = true;
  int max_parts = 1;  // equal parts that it can be divided into; 1: it cannot
  // Whether a part works while the others do. Intel's runtime for CPUs gives parts of one context turns.
  bool parts_run_apart = false;
  // Position among the devices with the same platform and device names; 0 for the first. Names a device across runs.
  int ordinal = 0;
  std::string problem;

  // The loader's own handles (cl_platform_id, cl_device_id); null for a platform without devices.
  void* platform_id = nullptr;
  void* device_id = nullptr;
};

// Lists every device as the loader does: CL.0, CL.1, ...; aliases POCL, GPU, GPU.1, FPGA, FPGA.1. Never throws for a
// platform that fails and never compiles. Without any platform the one row says how to install one.
std::vector<OpenClDeviceEntry> list_opencl_devices();

// A device name taken apart: "POCL#0/2" is part 0 of 2 of the device that POCL names.
struct OpenClDeviceName {
  std::size_t entry = 0;  // index into the list
  int part = 0;
  int part_count = 1;     // 1: the whole device
  std::string canonical;  // "CL.1" or "CL.1#0/2"
};

// Finds a device by name, alias or part of one; nothing for an unknown name.
std::optional<OpenClDeviceName> find_opencl_device(std::span<const OpenClDeviceEntry> entries, std::string_view name);

// The same; throws kInvalidArgument listing the devices for an unknown name.
OpenClDeviceName get_opencl_device(std::span<const OpenClDeviceEntry> entries, std::string_view name);

// Throws kInvalidArgument where the device cannot be divided into so many equal parts.
void check_parts(const OpenClDeviceEntry& entry, int parts);

// Returns "CL.0 (POCL), CL.1 (FPGA)" for error messages.
std::string opencl_device_names(std::span<const OpenClDeviceEntry> entries);

}  // namespace headrace
