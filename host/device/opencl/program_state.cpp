// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/program_state.hpp"

#include <filesystem>

#include "core/error.hpp"
#include "device/opencl/files.hpp"
#include "device/opencl/sha256.hpp"

namespace headrace {

std::string programmed_path(const OpenClDeviceEntry& entry, const std::string& state_dir) {
  const std::string identity = entry.info.platform + "\n" + entry.info.description;
  std::string path = state_dir + "/programmed-" + sha256_hex(identity).substr(0, 16);
  if (entry.ordinal > 0) path += "-" + std::to_string(entry.ordinal);
  return path + ".hrb";
}

std::optional<Bitstream> read_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir) {
  if (state_dir.empty()) return std::nullopt;
  const std::string path = programmed_path(entry, state_dir);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return read_bitstream(path);
}

void store_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir, const Bitstream& bitstream) {
  check(!state_dir.empty(), ErrorCode::kIo,
        "there is no state folder to remember what is programmed (HEADRACE_STATE_DIR)");
  write_bitstream(bitstream, programmed_path(entry, state_dir));
}

bool erase_programmed(const OpenClDeviceEntry& entry, const std::string& state_dir) {
  if (state_dir.empty()) return false;
  std::error_code error;
  const std::string path = programmed_path(entry, state_dir);
  const bool is_removed = std::filesystem::remove(path, error);
  if (error) fail(ErrorCode::kIo, path + ": cannot be removed: " + error.message());
  return is_removed;
}

}  // namespace headrace
