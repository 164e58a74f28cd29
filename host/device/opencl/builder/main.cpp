// SPDX-License-Identifier: Apache-2.0
// headrace-builder DEVICE CACHE_DIR KERNEL_DIR KEY...: compiles programs into the cache for a process that waits for
// them (parallel_build.hpp). Not for users: says nothing, and what it does not make the waiting process makes itself.
#include <exception>
#include <string>
#include <vector>

#include "device/opencl/parallel_build.hpp"

int main(int argc, char** argv) {
  constexpr int kFirstKey = 4;
  if (argc < kFirstKey) return 2;
  try {
    const headrace::OpenClOptions options{.cache_dir = argv[2], .state_dir = "", .kernel_dir = argv[3], .builder = ""};
    headrace::build_into_cache(argv[1], options, std::vector<std::string>(argv + kFirstKey, argv + argc));
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
