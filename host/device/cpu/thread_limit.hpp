// SPDX-License-Identifier: Apache-2.0
// How many threads oneDNN uses for the calls of one thread.
#pragma once

namespace headrace {

// While it lives, OpenMP regions that the calling thread starts have at most that many threads; 0: as before. Without
// oneDNN it does nothing: the plain references have one thread.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
  ~ThreadLimit();

 private:
  int before_ = 0;  // 0: nothing was changed
};

}  // namespace headrace
