// SPDX-License-Identifier: Apache-2.0
// What a Core holds: its devices and the packed weights that it has kept.
#pragma once

#include <memory>

#include "headrace/headrace.hpp"
#include "plan/weights_store.hpp"
#include "runtime/device_registry.hpp"

namespace headrace {

struct Core::Impl {
  explicit Impl(const CoreOptions& options)
      : devices(options),
        packed_weights(
            std::make_shared<WeightsStore>(options.cache_dir.empty() ? "" : options.cache_dir + "/weights")) {}
  DeviceRegistry devices;
  const std::shared_ptr<WeightsStore> packed_weights;  // outlives the Core in the models that it compiled
};

}  // namespace headrace
