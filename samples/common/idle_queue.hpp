// SPDX-License-Identifier: Apache-2.0
// Numbers of idle requests, handed from the callbacks' threads to the main thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

namespace headrace::samples {

// Thread-safe.
class IdleQueue {
 public:
  void push(std::size_t index) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(index);
    changed_.notify_one();  // under the lock: once pop returns, the queue may be destroyed
  }

  // Waits until a request is idle.
  std::size_t pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !idle_.empty(); });
    const std::size_t index = idle_.back();
    idle_.pop_back();
    return index;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> idle_;
};

}  // namespace headrace::samples
