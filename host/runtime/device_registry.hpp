// SPDX-License-Identifier: Apache-2.0
// The devices of a Core: listed, named, opened once and shared.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/opencl/opencl_device.hpp"
#include "device/opencl/opencl_devices.hpp"
#include "headrace/headrace.hpp"
#include "runtime/device_string.hpp"
#include "runtime/network.hpp"
#include "runtime/streams.hpp"

namespace headrace {

// Thread-safe. The OpenCL devices are listed once, at the first use.
class DeviceRegistry {
 public:
  explicit DeviceRegistry(CoreOptions options) : options_(std::move(options)) {}

  // CPU first, then the OpenCL devices as the loader lists them, then platforms with a problem.
  std::vector<DeviceSummary> list() const;

  // The device lists that a device string asks for: one, or for MULTI one per device, with their streams. Throws as
  // parse_device_string, and kInvalidArgument for a part of a device that cannot be divided so.
  std::vector<DeviceList> resolve(std::string_view text, const StreamWish& wish = {}) const;

  // The canonical name ("CL.0") of one OpenCL device. Throws kInvalidArgument for CPU, lists and unknown names.
  std::string opencl_name(std::string_view name) const;

  // The file of the user's tuning table for an OpenCL device of that canonical name; empty without a state folder.
  std::string tuning_path(const std::string& canonical) const;

  // Makes the next user of the device or its parts open it anew: what is programmed on it has changed.
  void forget(const std::string& canonical) const;

  OpenClOptions opencl_options() const;

 private:
  const std::vector<OpenClDeviceEntry>& entries() const;
  std::vector<NamedDevice> named_devices() const;
  StreamTraits traits_of(const std::string& canonical) const;
  std::shared_ptr<const Device> open(const std::string& canonical, int parts) const;
  void open_parts(const std::string& whole, int parts) const;
  DeviceList open_all(const std::vector<DeviceRef>& refs, const StreamWish& wish) const;
  std::vector<DeviceRef> choose() const;

  CoreOptions options_;
  mutable std::once_flag listed_;
  mutable std::vector<OpenClDeviceEntry> entries_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Device>> devices_;
};

}  // namespace headrace
