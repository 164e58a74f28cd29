// SPDX-License-Identifier: Apache-2.0
// One request on an OpenCL device.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace headrace {

struct LoadedPlan;

std::unique_ptr<Session> make_opencl_session(std::shared_ptr<const LoadedPlan> loaded);

}  // namespace headrace
