// SPDX-License-Identifier: Apache-2.0
// Batches of the same matrix products by CLBlast, on the same OpenCL device.
#pragma once

#include <string>

#include "bench/kernels/batch.hpp"
#include "bench/kernels/cases.hpp"
#include "device/device.hpp"

namespace headrace::bench {

// "yes", or why it is not there.
std::string clblast_description();
bool has_clblast();

BatchMaker make_clblast_batches(const Device& device, const BenchCase& bench_case);

}  // namespace headrace::bench
