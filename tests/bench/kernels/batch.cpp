// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/batch.hpp"

#include <algorithm>
#include <chrono>

namespace headrace::bench {

double seconds_of(const Batch& batch) {
  const auto begin = std::chrono::steady_clock::now();
  batch();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Prepared prepare(const BatchMaker& make_batch) {
  constexpr double kBatchSeconds = 0.02;
  constexpr double kMaxLaunches = 512;  // each has kernel objects of its own
  const Batch single = make_batch(1);
  single();
  const double launches = std::clamp(kBatchSeconds / seconds_of(single), 1.0, kMaxLaunches);
  Prepared prepared{make_batch(static_cast<int>(launches)), static_cast<int>(launches)};
  prepared.batch();
  return prepared;
}

}  // namespace headrace::bench
