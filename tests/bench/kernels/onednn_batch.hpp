// SPDX-License-Identifier: Apache-2.0
// Batches of the same convolutions and matrix products by oneDNN, on the CPU.
#pragma once

#include <string>

#include "bench/kernels/batch.hpp"
#include "bench/kernels/cases.hpp"

namespace headrace::bench {

// Version, or why there is none.
std::string onednn_description();
bool has_onednn();

// Uses the formats that oneDNN chooses itself, reorders left out, and as many threads as OpenMP is told.
BatchMaker make_onednn_batches(const BenchCase& bench_case);

}  // namespace headrace::bench
