// SPDX-License-Identifier: Apache-2.0
// Compiles programs in processes of their own. PoCL compiles one program at a time in a process, so a network's dozen
// programs would keep one core busy for seconds while the others wait.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/opencl/opencl_device.hpp"

namespace headrace {

// The program next to the running one, else on PATH, that compiles for others; empty where there is none.
std::string find_builder();

// How many processes, the caller's included, should compile that many programs.
std::size_t builder_count(std::size_t programs);

// Starts one builder for each share: the program keys that it compiles into options.cache_dir. Runs own_share
// meanwhile, then waits. A builder that fails costs nothing but time: its programs are missing in the cache. Does not
// throw by itself; what own_share throws is passed on when all builders have ended.
void build_in_processes(const std::string& device, const OpenClOptions& options,
                        const std::vector<std::vector<std::string>>& shares, const std::function<void()>& own_share);

// The inside of a builder: compiles the programs of those keys ("FILE|MACROS") into the cache.
void build_into_cache(const std::string& device, const OpenClOptions& options, const std::vector<std::string>& keys);

}  // namespace headrace
