// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_registry.hpp"

#include <algorithm>

#include "device/cpu/cpu_device.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/opencl/parallel_build.hpp"
#include "device/opencl/program_device.hpp"

namespace headrace {
namespace {

std::string type_name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpuFallback: return "CPU";
    case DeviceType::kCpu: return "OpenCL CPU";
    case DeviceType::kGpu: return "GPU";
    case DeviceType::kAccelerator: return "accelerator";
  }
  fail(ErrorCode::kInternal, "unknown device type");
}

DeviceSummary cpu_summary() {
  const CpuDevice cpu;
  DeviceSummary row;
  row.name = cpu.info().name;
  row.type = type_name(DeviceType::kCpuFallback);
  row.description = cpu.info().description;
  row.platform = cpu.info().platform;
  row.compute_units = cpu.caps().compute_units;
  row.has_compiler = false;
  return row;
}

}  // namespace

const std::vector<OpenClDeviceEntry>& DeviceRegistry::entries() const {
  std::call_once(listed_, [this] { entries_ = list_opencl_devices(); });
  return entries_;
}

std::vector<NamedDevice> DeviceRegistry::named_devices() const {
  std::vector<NamedDevice> devices{{"CPU", {}}};
  for (const OpenClDeviceEntry& entry : entries()) {
    if (!entry.info.name.empty()) devices.push_back({entry.info.name, entry.info.aliases});
  }
  return devices;
}

std::vector<DeviceSummary> DeviceRegistry::list() const {
  std::vector<DeviceSummary> rows{cpu_summary()};
  for (const OpenClDeviceEntry& entry : entries()) {
    DeviceSummary row;
    row.name = entry.info.name;
    row.aliases = entry.info.aliases;
    row.type = entry.info.name.empty() ? "" : type_name(entry.info.type);
    row.description = entry.info.description;
    row.platform = entry.info.platform;
    row.driver = entry.info.driver;
    row.compute_units = entry.compute_units;
    row.global_bytes = entry.global_bytes;
    row.has_compiler = entry.has_compiler;
    row.bitstream = programmed_name(entry, options_.state_dir);
    row.problem = entry.problem;
    rows.push_back(std::move(row));
  }
  return rows;
}

OpenClOptions DeviceRegistry::opencl_options() const {
  return {options_.cache_dir, options_.state_dir, options_.kernel_dir, find_builder()};
}

std::shared_ptr<const Device> DeviceRegistry::open(const std::string& canonical) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Device>& device = devices_[canonical];
  if (device == nullptr) {
    if (canonical == "CPU") {
      device = std::make_shared<const CpuDevice>();
    } else {
      device = make_opencl_device(canonical, opencl_options());
    }
  }
  return device;
}

DeviceList DeviceRegistry::open_all(const std::vector<DeviceRef>& refs) const {
  DeviceList list;
  for (const DeviceRef& ref : refs) {
    list.devices.push_back(open(ref.canonical));
    list.names.push_back(ref.written);
  }
  return list;
}

// AUTO: a programmed accelerator, else a GPU, else an OpenCL CPU device, with the CPU behind it.
DeviceList DeviceRegistry::choose() const {
  const auto rank = [this](const OpenClDeviceEntry& entry) {
    if (entry.info.name.empty() || !entry.problem.empty()) return 0;
    const bool is_programmed = !programmed_name(entry, options_.state_dir).empty();
    if (!entry.has_compiler && !is_programmed) return 0;
    if (entry.info.type == DeviceType::kAccelerator) return is_programmed ? 4 : 1;
    return entry.info.type == DeviceType::kGpu ? 3 : 2;
  };
  std::vector<DeviceRef> refs{{"CPU", "CPU"}};
  const auto best = std::max_element(entries().begin(), entries().end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (best != entries().end() && rank(*best) > 0) refs.insert(refs.begin(), {best->info.name, best->info.name});
  return open_all(refs);
}

std::vector<DeviceList> DeviceRegistry::resolve(std::string_view text) const {
  const DeviceString parsed = parse_device_string(text, named_devices());
  if (parsed.mode == DeviceMode::kAuto) return {choose()};
  if (parsed.mode != DeviceMode::kMulti) return {open_all(parsed.devices)};
  std::vector<DeviceList> lists;
  for (const DeviceRef& ref : parsed.devices) lists.push_back(open_all({ref}));
  return lists;
}

std::string DeviceRegistry::opencl_name(std::string_view name) const {
  const DeviceString parsed = parse_device_string(name, named_devices());
  const bool is_one = parsed.mode == DeviceMode::kSingle && parsed.devices[0].canonical != "CPU";
  if (!is_one) {
    fail(ErrorCode::kInvalidArgument,
         "'" + std::string(name) +
             "' is not one OpenCL device; bitstreams are for one of: " + list_devices(named_devices()));
  }
  return parsed.devices[0].canonical;
}

void DeviceRegistry::forget(const std::string& canonical) const {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [&](const auto& entry) {
    return entry.first == canonical || entry.first.starts_with(canonical + "#");
  });
}

}  // namespace headrace
