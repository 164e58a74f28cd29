// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_devices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "device/opencl/cl_error.hpp"
#include "device/opencl/cl_handle.hpp"

namespace headrace {
namespace {

constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR

// PoCL compiles a kernel once in a general form, for binaries, and once more for each work-group size that it meets.
// Wide kernels state their size, so the general form is as good and compiling twice is waste: half of a cold start.
// PoCL reads the variable at each launch; it is set before main, while no other thread can be reading the environment.
// A user's own value stays.
[[gnu::constructor]] void run_general_form_on_pocl() { ::setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0); }

DeviceType device_type(cl_device_id device) {
  const auto bits = device_value<cl_device_type>(device, CL_DEVICE_TYPE);
  // Oclgrind claims every type; it runs kernels on the host, so "CPU" is the truth.
  if ((bits & CL_DEVICE_TYPE_CPU) != 0) return DeviceType::kCpu;
  if ((bits & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::kGpu;
  return DeviceType::kAccelerator;
}

OpenClDeviceEntry problem_entry(std::string platform, std::string problem) {
  OpenClDeviceEntry entry;
  entry.info.platform = std::move(platform);
  entry.problem = std::move(problem);
  return entry;
}

// How many equal parts the device can be divided into, each of one compute unit at least.
int count_max_parts(cl_device_id device) {
  std::array<cl_device_partition_property, 16> kinds{};
  std::size_t size = 0;
  const cl_int code = clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof(kinds), kinds.data(), &size);
  const auto end = kinds.begin() + static_cast<std::ptrdiff_t>(size / sizeof(kinds[0]));
  if (code != CL_SUCCESS || std::find(kinds.begin(), end, CL_DEVICE_PARTITION_EQUALLY) == end) return 1;
  return static_cast<int>(std::max(1U, device_value<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES)));
}

OpenClDeviceEntry device_entry(cl_platform_id platform, cl_device_id device) {
  OpenClDeviceEntry entry;
  entry.platform_id = platform;
  entry.device_id = device;
  entry.info.type = device_type(device);
  entry.info.description = device_text(device, CL_DEVICE_NAME);
  entry.info.platform = platform_text(platform, CL_PLATFORM_NAME);
  entry.info.vendor = device_text(device, CL_DEVICE_VENDOR);
  entry.info.version = device_text(device, CL_DEVICE_VERSION);
  entry.info.driver = device_text(device, CL_DRIVER_VERSION);
  entry.compute_units = static_cast<int>(device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  entry.global_bytes = static_cast<std::size_t>(device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  entry.has_compiler = device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  // Measured with one busy kernel on each half: PoCL 3.1 and Intel's FPGA emulator take as long as for one, Intel's
  // runtime for CPUs twice as long (2 December 2026).
  entry.parts_run_apart = entry.info.platform == kPoclPlatform || entry.info.type == DeviceType::kAccelerator;
  entry.max_parts = std::min(std::max(1, entry.compute_units), count_max_parts(device));
  if (device_value<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) {
    entry.problem = "the runtime says that the device is not available";
  }
  return entry;
}

void append_platform(cl_platform_id platform, std::vector<OpenClDeviceEntry>& entries) {
  const std::string name = platform_text(platform, CL_PLATFORM_NAME);
  cl_uint count = 0;
  const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) {
    entries.push_back(problem_entry(name, "the platform has no device"));
    return;
  }
  std::vector<cl_device_id> devices(code == CL_SUCCESS ? count : 0);
  const cl_int listed =
      devices.empty() ? code : clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  if (listed != CL_SUCCESS) {
    // PoCL without a writable cache folder answers -33 here.
    const std::string hint = name == kPoclPlatform ? "; is its cache folder (POCL_CACHE_DIR, ~/.cache) writable?" : "";
    entries.push_back(problem_entry(name, "the platform's devices cannot be listed: " + cl_code_name(listed) + hint));
    return;
  }
  for (cl_device_id device : devices) entries.push_back(device_entry(platform, device));
}

// "GPU" for the first, "GPU.1" for the second, ...
std::string alias(std::string_view stem, int index) {
  return index == 0 ? std::string(stem) : std::string(stem) + "." + std::to_string(index);
}

void name_devices(std::vector<OpenClDeviceEntry>& entries) {
  int devices = 0;
  int gpus = 0;
  int accelerators = 0;
  int pocls = 0;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->device_id == nullptr) continue;
    DeviceInfo& info = entry->info;
    info.name = "CL." + std::to_string(devices++);
    if (info.type == DeviceType::kGpu) info.aliases.push_back(alias("GPU", gpus++));
    if (info.type == DeviceType::kAccelerator) info.aliases.push_back(alias("FPGA", accelerators++));
    if (info.platform == kPoclPlatform && pocls++ == 0) info.aliases.push_back("POCL");
    entry->ordinal = static_cast<int>(std::count_if(entries.begin(), entry, [&](const OpenClDeviceEntry& other) {
      return other.device_id != nullptr && other.info.platform == info.platform &&
             other.info.description == info.description;
    }));
  }
}

// Reads a whole non-negative number.
std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::vector<OpenClDeviceEntry> list_opencl_devices() {
  std::vector<OpenClDeviceEntry> entries;
  cl_uint count = 0;
  cl_int code = clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? count : 0);
  if (!platforms.empty()) code = clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code != CL_SUCCESS && code != kNoPlatform) {
    entries.push_back(problem_entry("", "the OpenCL loader failed: " + cl_code_name(code)));
  } else if (platforms.empty()) {
    entries.push_back(problem_entry("", "no OpenCL platform; install one, e.g. apt-get install pocl-opencl-icd"));
  } else {
    for (cl_platform_id platform : platforms) append_platform(platform, entries);
  }
  name_devices(entries);
  return entries;
}

std::optional<OpenClDeviceName> find_opencl_device(std::span<const OpenClDeviceEntry> entries, std::string_view name) {
  OpenClDeviceName found;
  std::string suffix;
  if (const std::size_t hash = name.find('#'); hash != std::string_view::npos) {
    const std::string_view part = name.substr(hash + 1);
    const std::size_t slash = part.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto index = parse_number(part.substr(0, slash));
    const auto count = parse_number(part.substr(slash + 1));
    if (!index || !count || *index >= *count) return std::nullopt;
    found.part = *index;
    found.part_count = *count;
    suffix = "#" + std::string(part);
    name = name.substr(0, hash);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const DeviceInfo& info = entries[i].info;
    if (info.name.empty()) continue;
    if (info.name != name && std::find(info.aliases.begin(), info.aliases.end(), name) == info.aliases.end()) continue;
    found.entry = i;
    found.canonical = info.name + suffix;
    return found;
  }
  return std::nullopt;
}

OpenClDeviceName get_opencl_device(std::span<const OpenClDeviceEntry> entries, std::string_view name) {
  auto found = find_opencl_device(entries, name);
  if (!found) {
    fail(ErrorCode::kInvalidArgument,
         "device '" + std::string(name) + "' does not exist; OpenCL devices: " + opencl_device_names(entries));
  }
  return std::move(*found);
}

void check_parts(const OpenClDeviceEntry& entry, int parts) {
  if (parts <= entry.max_parts || !entry.problem.empty()) return;  // a problem is told where the device is opened
  const std::string& name = entry.info.name;
  const std::string why = entry.max_parts == 1 ? "its driver cannot divide it, or it has one compute unit"
                                               : "the most is " + std::to_string(entry.max_parts);
  fail(ErrorCode::kInvalidArgument, "device " + name + " cannot be divided into " + std::to_string(parts) +
                                        " parts: " + why + "; name the whole device, " + name);
}

std::string opencl_device_names(std::span<const OpenClDeviceEntry> entries) {
  std::string names;
  for (const OpenClDeviceEntry& entry : entries) {
    if (entry.info.name.empty()) continue;
    if (!names.empty()) names += ", ";
    names += entry.info.name;
    for (const std::string& other : entry.info.aliases) names += " (" + other + ")";
  }
  return names.empty() ? "none" : names;
}

}  // namespace headrace
