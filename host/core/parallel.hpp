// SPDX-License-Identifier: Apache-2.0
// A loop whose passes run on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace headrace {

// Calls run(0) ... run(count - 1), each once, on as many threads as the process has cores, the caller's among them;
// they are taken in ascending order. Returns when all are done. Of what they throw, rethrows the one of the lowest
// index.
void parallel_for(std::size_t count, const std::function<void(std::size_t index)>& run);

}  // namespace headrace
