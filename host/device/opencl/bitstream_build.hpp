// SPDX-License-Identifier: Apache-2.0
// Builds bitstreams for a device.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "device/opencl/bitstream.hpp"
#include "device/opencl/opencl_device.hpp"
#include "device/opencl/recipe.hpp"

namespace headrace {

// Called before each program and once at the end.
using BuildProgress = std::function<void(int done, int total, std::string_view what)>;

// Compiles every program of the recipe for the device; on CPU devices the images hold machine code. The candidates come
// from the operators' descriptors. Throws kInvalidArgument for an unknown device, kUnsupported for one without a
// compiler, kBuild where a program does not compile.
Bitstream build_bitstream(std::string_view device, const Recipe& recipe, std::span<const OperatorKernels> candidates,
                          const OpenClOptions& options, const BuildProgress& progress = {});

}  // namespace headrace
