// SPDX-License-Identifier: Apache-2.0
// Reads device strings: "POCL", "HETERO:FPGA,GPU,CPU", "MULTI:CL.0,CL.1", "AUTO". Pure: the devices are an argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// A device that can be named.
struct NamedDevice {
  std::string name;                  // "CL.0"
  std::vector<std::string> aliases;  // "POCL", "GPU"
};

enum class DeviceMode {
  kSingle,  // every layer on the one device
  kHetero,  // each layer on the first device that can run it
  kMulti,   // requests spread over the devices, each running whole networks
  kAuto,    // the library chooses
};

struct DeviceRef {
  std::string written;    // as the user wrote it, for messages: "POCL#0/2"
  std::string canonical;  // "CL.0#0/2"
};

struct DeviceString {
  DeviceMode mode = DeviceMode::kSingle;
  std::vector<DeviceRef> devices;  // in priority order; empty for AUTO
};

// Names match without regard to case. Throws kInvalidArgument with one line that lists the devices for an unknown name,
// an empty or doubled list entry, a bad sub-device or an unknown list word; kUnsupported for PIPELINE.
DeviceString parse_device_string(std::string_view text, std::span<const NamedDevice> known);

// Returns "CPU, CL.0 (POCL), CL.1 (FPGA)".
std::string list_devices(std::span<const NamedDevice> known);

}  // namespace headrace
