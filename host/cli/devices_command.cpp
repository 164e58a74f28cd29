// SPDX-License-Identifier: Apache-2.0
// `headrace devices` and `headrace program`.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNoPlatformHint =
    "no OpenCL platform: install a driver (ICD), for example apt-get install pocl-opencl-icd";

std::string gibibytes(std::size_t bytes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  return bytes == 0 ? "-" : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
}

Json to_json(const DeviceSummary& device) {
  return {{"name", device.name},
          {"aliases", device.aliases},
          {"type", device.type},
          {"description", device.description},
          {"platform", device.platform},
          {"driver", device.driver},
          {"compute_units", device.compute_units},
          {"global_bytes", device.global_bytes},
          {"has_compiler", device.has_compiler},
          {"bitstream", device.bitstream},
          {"problem", device.problem}};
}

void print_devices(const std::vector<DeviceSummary>& devices) {
  TextTable table({"NAME", "ALIASES", "TYPE", "UNITS", "MEMORY", "BITSTREAM", "DEVICE"});
  std::string problems;
  for (const DeviceSummary& device : devices) {
    if (device.name.empty()) {
      problems += device.platform.empty() ? "" : fmt::format("{}: {}\n", device.platform, one_line(device.problem));
      continue;
    }
    std::string description = device.description;
    if (!device.platform.empty()) description += fmt::format(" ({}", device.platform);
    if (!device.driver.empty()) description += fmt::format(", driver {}", device.driver);
    if (!device.platform.empty()) description += ')';
    if (!device.problem.empty()) description += fmt::format(" - unusable: {}", one_line(device.problem));
    table.add({device.name, device.aliases.empty() ? "-" : join(device.aliases, ","), device.type,
               fmt::format("{}", device.compute_units), gibibytes(device.global_bytes),
               device.bitstream.empty() ? "-" : device.bitstream, description});
  }
  fmt::print("{}{}", table.to_string(), problems);
}

}  // namespace

int run_command(const DevicesOptions& options) {
  const std::vector<DeviceSummary> devices = Core().devices();
  // A platform without a usable device has a row of its own, with a problem instead of a name.
  const bool is_only_cpu = std::all_of(devices.begin(), devices.end(), [](const DeviceSummary& device) {
    return device.name == "CPU" || (device.name.empty() && device.platform.empty());
  });
  if (options.is_json) {
    Json rows = Json::array();
    for (const DeviceSummary& device : devices) rows.push_back(to_json(device));
    Json document{{"devices", std::move(rows)}};
    if (is_only_cpu) document["hint"] = kNoPlatformHint;
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_devices(devices);
  }
  if (is_only_cpu) fail(ErrorCode::kDevice, kNoPlatformHint);  // scripts look for a device
  return 0;
}

int run_command(const ProgramOptions& options) {
  const Core core;
  if (options.is_erase) {
    const std::string erased = core.erase(options.device);
    if (options.is_json) {
      fmt::print("{}\n", Json{{"device", options.device}, {"erased", erased}}.dump(2));
    } else if (erased.empty()) {
      fmt::print("{}: nothing was programmed\n", options.device);
    } else {
      fmt::print("{}: bitstream {} erased\n", options.device, erased);
    }
    return 0;
  }
  const Core::ProgramReport report = core.program(options.device, options.file);
  if (options.is_json) {
    const Json document{{"device", report.device},   {"bitstream", report.bitstream},
                        {"uuid", report.uuid},       {"was_programmed", report.was_programmed},
                        {"load_ms", report.load_ms}, {"kernels", report.kernels}};
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (report.was_programmed) {
    fmt::print("{}: bitstream {} ({}) was programmed already\n", report.device, report.bitstream, report.uuid);
  } else {
    fmt::print("{}: programmed with bitstream {} ({}), {} kernels, {:.1f} ms\n", report.device, report.bitstream,
               report.uuid, report.kernels, report.load_ms);
  }
  return 0;
}

}  // namespace headrace
