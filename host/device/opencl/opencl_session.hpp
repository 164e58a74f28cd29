// SPDX-License-Identifier: Apache-2.0
// One request on an OpenCL device or one of its parts.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace headrace {

struct LoadedPlan;

// `part` is an index into the context's devices.
std::unique_ptr<Session> make_opencl_session(std::shared_ptr<const LoadedPlan> loaded, std::size_t part);

}  // namespace headrace
