// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_device.hpp"

#include <mutex>

#include "core/log.hpp"
#include "device/opencl/bitstream_load.hpp"
#include "device/opencl/opencl_executable.hpp"
#include "device/opencl/program_state.hpp"

namespace headrace {
namespace {

class OpenClDevice final : public Device {
 public:
  OpenClDevice(OpenClDeviceEntry entry, OpenClDeviceName name, OpenClOptions options)
      : entry_(std::move(entry)), name_(std::move(name)), options_(std::move(options)), info_(entry_.info) {
    info_.name = name_.canonical;
  }

  const DeviceInfo& info() const override { return info_; }

  KernelCaps caps() const override {
    const std::lock_guard lock(mutex_);
    open();
    KernelCaps caps = context_->caps();
    if (bitstream_ != nullptr) {
      for (std::string& key : bitstream_->instance_keys()) caps.programmed.insert(std::move(key));
    }
    return caps;
  }

  std::unique_ptr<Executable> load(std::shared_ptr<const DevicePlan> plan, const LoadOptions& options) const override {
    std::shared_ptr<const OpenClContext> context;
    std::shared_ptr<ProgramTable> programs;
    {
      const std::lock_guard lock(mutex_);
      open();
      context = context_;
      programs = programs_;
    }
    return make_opencl_executable(load_plan(std::move(context), std::move(programs), std::move(plan), options));
  }

  void* native_context() const override {
    const std::lock_guard lock(mutex_);
    open();
    return context_->get();
  }

 private:
  // Called with the mutex held.
  void open() const {
    if (context_ != nullptr) return;
    auto context = std::make_shared<const OpenClContext>(entry_, name_);
    bitstream_ = find_usable_bitstream();
    programs_ = std::make_shared<ProgramTable>(context, options_, bitstream_);
    context_ = std::move(context);
  }

  // What is programmed, where it can be used; faults are warnings, since the device works without it.
  std::shared_ptr<const Bitstream> find_usable_bitstream() const {
    try {
      auto bitstream = read_programmed(entry_, options_.state_dir);
      if (!bitstream) return nullptr;
      if (const auto mismatch = find_target_mismatch(*bitstream, info_)) {
        log(LogLevel::kWarn, "bitstream", *mismatch + "; it is not used");
        return nullptr;
      }
      return std::make_shared<const Bitstream>(std::move(*bitstream));
    } catch (const Error& error) {
      log(LogLevel::kWarn, "bitstream",
          "what is programmed on " + info_.name + " is not used: " + error.what() + "; program it again or --erase it");
      return nullptr;
    }
  }

  OpenClDeviceEntry entry_;
  OpenClDeviceName name_;
  OpenClOptions options_;
  DeviceInfo info_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const OpenClContext> context_;
  mutable std::shared_ptr<ProgramTable> programs_;
  mutable std::shared_ptr<const Bitstream> bitstream_;
};

}  // namespace

std::unique_ptr<Device> make_opencl_device(std::string_view name, const OpenClOptions& options) {
  std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  OpenClDeviceName found = get_opencl_device(entries, name);
  OpenClDeviceEntry entry = std::move(entries[found.entry]);
  return std::make_unique<OpenClDevice>(std::move(entry), std::move(found), options);
}

}  // namespace headrace
