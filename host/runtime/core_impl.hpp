// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "headrace/headrace.hpp"
#include "runtime/device_registry.hpp"

namespace headrace {

struct Core::Impl {
  explicit Impl(const CoreOptions& options) : devices(options) {}
  DeviceRegistry devices;
};

}  // namespace headrace
