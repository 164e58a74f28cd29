// SPDX-License-Identifier: Apache-2.0
// What is measured: many launches of one kernel with a single wait behind the last one.
#pragma once

#include <functional>

namespace headrace::bench {

// Starts all launches of the batch, then waits for them.
using Batch = std::function<void()>;

// Makes a batch of so many launches; what it computes on is set up once, outside.
using BatchMaker = std::function<Batch(int launches)>;

// Wall time of one call, in seconds.
double seconds_of(const Batch& batch);

// A batch that takes about 20 ms, so that the wait behind it does not count; kernels are compiled and warm.
struct Prepared {
  Batch batch;
  int launches = 0;
};

Prepared prepare(const BatchMaker& make_batch);

}  // namespace headrace::bench
