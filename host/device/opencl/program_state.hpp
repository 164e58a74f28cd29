// SPDX-License-Identifier: Apache-2.0
// What is programmed on which device, kept per user in a folder: one copy of the bitstream for each device.
#pragma once

#include <optional>
#include <string>

#include "device/opencl/bitstream.hpp"
#include "device/opencl/opencl_devices.hpp"

namespace headrace {

// The file that holds a device's bitstream. Named by platform, device and ordinal, not by the loader's numbering,
// which changes when another platform is installed.
std::string programmed_path(const OpenClDeviceEntry& entry, const std::string& state_dir);

// Reads and checks what is programmed; nothing where nothing is. Throws kBadModel or kIo where the copy is damaged.
std::optional<Bitstream> read_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir);

// Remembers a bitstream, in one step. Throws kIo.
void store_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir, const Bitstream& bitstream);

// Forgets it, damaged or not. Returns whether there was one. Throws kIo.
bool erase_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir);

}  // namespace headrace
