// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_registry.hpp"

#include <algorithm>

#include "core/log.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/opencl/parallel_build.hpp"
#include "device/opencl/program_device.hpp"
#include "device/opencl/tuning_file.hpp"

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

// The key of a device that is divided and used as one; no user can write it.
std::string all_parts_name(const std::string& whole, int parts) { return whole + "#*/" + std::to_string(parts); }

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

StreamTraits DeviceRegistry::traits_of(const std::string& canonical) const {
  if (canonical == "CPU") return {.compute_units = CpuDevice().caps().compute_units};
  const OpenClDeviceName name = get_opencl_device(entries(), canonical);
  const OpenClDeviceEntry& entry = entries()[name.entry];
  // A part is not divided again.
  return {.type = entry.info.type,
          .compute_units = std::max(1, entry.compute_units / name.part_count),
          .max_parts = name.part_count == 1 ? entry.max_parts : 1,
          .parts_run_apart = entry.parts_run_apart};
}

// Parts of one division are opened together: they share programs and memory. Called with the mutex held.
void DeviceRegistry::open_parts(const std::string& whole, int parts) const {
  DividedDevice divided = divide_opencl_device(whole, parts, opencl_options());
  for (auto& part : divided.parts) {
    const std::string name = part->info().name;
    devices_[name] = std::move(part);
  }
  devices_[all_parts_name(whole, parts)] = std::move(divided.all);
}

// The device of that name, as one of `parts` parts that requests spread over.
std::shared_ptr<const Device> DeviceRegistry::open(const std::string& canonical, int parts) const {
  const std::lock_guard lock(mutex_);
  const std::string name = parts > 1 ? all_parts_name(canonical, parts) : canonical;
  if (const auto found = devices_.find(name); found != devices_.end()) return found->second;
  if (canonical == "CPU") return devices_[name] = std::make_shared<const CpuDevice>();
  const OpenClDeviceName taken_apart = get_opencl_device(entries(), canonical);
  const int part_count = std::max(parts, taken_apart.part_count);
  if (part_count == 1) return devices_[name] = make_opencl_device(canonical, opencl_options());
  open_parts(entries()[taken_apart.entry].info.name, part_count);
  return devices_.at(name);
}

DeviceList DeviceRegistry::open_all(const std::vector<DeviceRef>& refs, const StreamWish& wish) const {
  DeviceList list;
  // The first device sets how many requests run at once; the others follow.
  const Streams first = choose_streams(traits_of(refs.front().canonical), wish);
  list.streams = static_cast<std::size_t>(first.count);
  for (const DeviceRef& ref : refs) {
    const Streams streams = choose_streams(traits_of(ref.canonical), {.hint = wish.hint, .count = first.count});
    list.devices.push_back(open(ref.canonical, streams.parts));
    list.names.push_back(ref.written);
    log(LogLevel::kInfo, "streams",
        ref.written + "," + std::to_string(streams.count) + " streams," + std::to_string(streams.parts) + " parts");
  }
  return list;
}

// AUTO: a programmed accelerator, else a GPU, else an OpenCL CPU device, with the CPU behind it.
std::vector<DeviceRef> DeviceRegistry::choose() const {
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
  return refs;
}

std::vector<DeviceList> DeviceRegistry::resolve(std::string_view text, const StreamWish& wish) const {
  const DeviceString parsed = parse_device_string(text, named_devices());
  if (parsed.mode == DeviceMode::kAuto) return {open_all(choose(), wish)};
  if (parsed.mode != DeviceMode::kMulti) return {open_all(parsed.devices, wish)};
  std::vector<DeviceList> lists;
  for (const DeviceRef& ref : parsed.devices) lists.push_back(open_all({ref}, wish));
  return lists;
}

std::string DeviceRegistry::opencl_name(std::string_view name) const {
  const DeviceString parsed = parse_device_string(name, named_devices());
  const bool is_one = parsed.mode == DeviceMode::kSingle && parsed.devices[0].canonical != "CPU";
  if (!is_one) {
    fail(ErrorCode::kInvalidArgument,
         "'" + std::string(name) + "' is not one OpenCL device; there are: " + list_devices(named_devices()));
  }
  return parsed.devices[0].canonical;
}

std::string DeviceRegistry::tuning_path(const std::string& canonical) const {
  const OpenClDeviceName name = get_opencl_device(entries(), canonical);
  return headrace::tuning_path(entries()[name.entry], name.part_count, options_.state_dir);
}

void DeviceRegistry::forget(const std::string& canonical) const {
  const std::string whole = canonical.substr(0, canonical.find('#'));
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_,
                [&](const auto& entry) { return entry.first == whole || entry.first.starts_with(whole + "#"); });
}

}  // namespace headrace
