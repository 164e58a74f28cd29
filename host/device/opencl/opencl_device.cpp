// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_device.hpp"

#include <mutex>

#include "core/log.hpp"
#include "device/opencl/bitstream_load.hpp"
#include "device/opencl/opencl_executable.hpp"
#include "device/opencl/program_state.hpp"
#include "device/opencl/tuning_file.hpp"

namespace headrace {
namespace {

// A device or all its parts, opened at the first use. Thread-safe.
class OpenedDevice {
 public:
  struct State {
    std::shared_ptr<const OpenClContext> context;
    std::shared_ptr<ProgramTable> programs;
    std::shared_ptr<const Bitstream> bitstream;  // null: nothing usable is programmed
    std::shared_ptr<const TuningTable> tuning;   // null: nothing was measured
  };

  OpenedDevice(OpenClDeviceEntry entry, int parts, OpenClOptions options)
      : entry_(std::move(entry)), parts_(parts), options_(std::move(options)) {}

  const DeviceInfo& info() const { return entry_.info; }

  State open() const {
    const std::lock_guard lock(mutex_);
    if (state_.context == nullptr) {
      auto context = std::make_shared<const OpenClContext>(entry_, parts_);
      state_.bitstream = find_usable_bitstream();
      state_.programs = std::make_shared<ProgramTable>(context, options_, state_.bitstream);
      state_.tuning = load_tuning(tuning_path(entry_, parts_, options_.state_dir),
                                  tuning_target(entry_.info, context->caps()), state_.programs->sources());
      state_.context = std::move(context);
    }
    return state_;
  }

 private:
  // What is programmed, where it can be used; faults are warnings, since the device works without it.
  std::shared_ptr<const Bitstream> find_usable_bitstream() const {
    try {
      auto bitstream = read_programmed(entry_, options_.state_dir);
      if (!bitstream) return nullptr;
      if (const auto mismatch = find_target_mismatch(*bitstream, entry_.info)) {
        log(LogLevel::kWarn, "bitstream", *mismatch + "; it is not used");
        return nullptr;
      }
      return std::make_shared<const Bitstream>(std::move(*bitstream));
    } catch (const Error& error) {
      log(LogLevel::kWarn, "bitstream",
          "what is programmed on " + entry_.info.name + " is not used: " + error.what() +
              "; program it again or --erase it");
      return nullptr;
    }
  }

  OpenClDeviceEntry entry_;
  int parts_;
  OpenClOptions options_;
  mutable std::mutex mutex_;
  mutable State state_;
};

// One part, or several parts that sessions spread over.
class OpenClDevice final : public Device {
 public:
  OpenClDevice(std::shared_ptr<const OpenedDevice> opened, std::string name, std::size_t first_part, std::size_t parts)
      : opened_(std::move(opened)), first_part_(first_part), part_count_(parts), info_(opened_->info()) {
    info_.name = std::move(name);
  }

  const DeviceInfo& info() const override { return info_; }
  std::size_t part_count() const override { return part_count_; }

  KernelCaps caps() const override {
    const OpenedDevice::State state = opened_->open();
    KernelCaps caps = state.context->caps();
    caps.tuning = state.tuning;
    if (state.bitstream != nullptr) {
      for (std::string& key : state.bitstream->instance_keys()) caps.programmed.insert(std::move(key));
    }
    return caps;
  }

  std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const override {
    OpenedDevice::State state = opened_->open();
    auto loaded = load_plan(std::move(state.context), std::move(state.programs), std::move(plan), options);
    return make_opencl_executable(std::move(loaded), first_part_);
  }

  std::size_t count_unbuilt(const DevicePlan& plan) const override {
    return opened_->open().programs->count_unbuilt(instances_of(plan));
  }

  void* native_context() const override { return opened_->open().context->get(); }

 private:
  std::shared_ptr<const OpenedDevice> opened_;
  std::size_t first_part_;
  std::size_t part_count_;
  DeviceInfo info_;
};

std::shared_ptr<const OpenedDevice> open_later(const OpenClDeviceEntry& entry, int parts,
                                               const OpenClOptions& options) {
  check_parts(entry, parts);
  return std::make_shared<const OpenedDevice>(entry, parts, options);
}

}  // namespace

std::unique_ptr<Device> make_opencl_device(std::string_view name, const OpenClOptions& options) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceName found = get_opencl_device(entries, name);
  const auto opened = open_later(entries[found.entry], found.part_count, options);
  return std::make_unique<OpenClDevice>(opened, found.canonical, static_cast<std::size_t>(found.part), 1);
}

DividedDevice divide_opencl_device(std::string_view name, int parts, const OpenClOptions& options) {
  const std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  const OpenClDeviceName found = get_opencl_device(entries, name);
  check(found.part_count == 1, ErrorCode::kInvalidArgument,
        "device " + std::string(name) + " is a part already; divide the whole device");
  const auto opened = open_later(entries[found.entry], parts, options);
  const auto count = static_cast<std::size_t>(parts);
  DividedDevice divided{std::make_unique<OpenClDevice>(opened, found.canonical, 0, count), {}};
  for (std::size_t part = 0; part < count; ++part) {
    const std::string part_name = found.canonical + "#" + std::to_string(part) + "/" + std::to_string(parts);
    divided.parts.push_back(std::make_unique<OpenClDevice>(opened, part_name, part, 1));
  }
  return divided;
}

}  // namespace headrace
