// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/thread_limit.hpp"

#ifdef HEADRACE_WITH_ONEDNN
// From <omp.h>, which clang finds only with a runtime of its own; Debian's oneDNN is built with GCC's.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int count);
}
#endif

namespace headrace {

#ifdef HEADRACE_WITH_ONEDNN

ThreadLimit::ThreadLimit(int threads) {
  if (threads <= 0) return;
  before_ = omp_get_max_threads();
  omp_set_num_threads(threads);
}

ThreadLimit::~ThreadLimit() {
  if (before_ > 0) omp_set_num_threads(before_);
}

#else

ThreadLimit::ThreadLimit(int /*threads*/) {}
ThreadLimit::~ThreadLimit() = default;

#endif

}  // namespace headrace
