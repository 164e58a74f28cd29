// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace headrace {

void parallel_for(std::size_t count, const std::function<void(std::size_t index)>& run) {
  // What runs here is bound by memory, and every thread holds a share of it.
  constexpr std::size_t kMaxThreads = 8;
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        run(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    const std::size_t wanted = std::min<std::size_t>({count, std::thread::hardware_concurrency(), kMaxThreads});
    std::vector<std::jthread> helpers;
    try {
      while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // No thread to be had: those that run do the rest.
    }
    work();
  }
  const auto first = std::find_if(errors.begin(), errors.end(), [](const auto& error) { return error != nullptr; });
  if (first != errors.end()) std::rethrow_exception(*first);
}

}  // namespace headrace
