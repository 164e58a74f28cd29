// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/sub_devices.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "device/opencl/cl_error.hpp"

namespace headrace {
namespace {

std::vector<cl_device_id> divide(const OpenClDeviceEntry& entry, int parts) {
  const std::string what = "device " + entry.info.name + ": dividing it into " + std::to_string(parts) + " parts";
  auto* device = static_cast<cl_device_id>(entry.device_id);
  const cl_device_partition_property properties[] = {
      CL_DEVICE_PARTITION_EQUALLY, static_cast<cl_device_partition_property>(entry.compute_units / parts), 0};
  cl_uint count = 0;
  check_cl(clCreateSubDevices(device, properties, 0, nullptr, &count), what);
  std::vector<cl_device_id> made(count);
  check_cl(clCreateSubDevices(device, properties, count, made.data(), nullptr), what);
  HEADRACE_ASSERT(made.size() >= static_cast<std::size_t>(parts), "fewer sub-devices than asked for");
  made.resize(static_cast<std::size_t>(parts));
  return made;
}

struct Divisions {
  std::mutex mutex;
  std::map<std::pair<void*, int>, std::vector<cl_device_id>> made;  // by whole device and number of parts
};

// Never destroyed: drivers' threads outlive static objects.
Divisions& divisions() {
  static auto* const all = new Divisions;
  return *all;
}

}  // namespace

std::vector<cl_device_id> sub_devices(const OpenClDeviceEntry& entry, int parts) {
  check_parts(entry, parts);
  Divisions& all = divisions();
  const std::lock_guard lock(all.mutex);
  std::vector<cl_device_id>& made = all.made[{entry.device_id, parts}];
  if (made.empty()) made = divide(entry, parts);
  return made;
}

}  // namespace headrace
