// SPDX-License-Identifier: Apache-2.0
// Batches of launches on a device of ours.
#pragma once

#include <memory>

#include "bench/kernels/batch.hpp"
#include "bench/kernels/cases.hpp"
#include "device/device.hpp"

namespace headrace::bench {

// Runs the steps of a plan without ports over and over. The device outlives the batches.
BatchMaker make_plan_batches(const Device& device, std::shared_ptr<const DevicePlan> plan);

// Lowers the case for the device. Throws kUnsupported with the operator's reason where it refuses.
BatchMaker make_headrace_batches(const Device& device, const BenchCase& bench_case);

}  // namespace headrace::bench
