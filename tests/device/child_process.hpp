// SPDX-License-Identifier: Apache-2.0
// Runs one test of this program in a process of its own: OpenCL runtimes read their environment once.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headrace::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct ChildResult {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string output;  // stdout and stderr
};

// Starts children; `tests` are names of DISABLED_ tests, which only children run. All run at once.
std::vector<ChildResult> run_children(const std::vector<std::string>& tests, const Environment& environment);
ChildResult run_child(const std::string& test, const Environment& environment);

// Expects the child to have run its one test with success.
void expect_passed(const ChildResult& result);

}  // namespace headrace::test
