// SPDX-License-Identifier: Apache-2.0
#include "device/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "device/device_fixture.hpp"

namespace headrace::test {
namespace {

pid_t start_child(const std::string& test, const Environment& environment, const std::string& output_path) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  // Between fork and exec: nothing but what is needed to become the other program.
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (std::freopen(output_path.c_str(), "w", stdout) == nullptr || ::dup2(1, 2) < 0) ::_exit(126);
  const std::string filter = "--gtest_filter=" + test;
  ::execl("/proc/self/exe", "device_test", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
  ::_exit(127);
}

}  // namespace

std::vector<ChildResult> run_children(const std::vector<std::string>& tests, const Environment& environment) {
  const TempFolder folder;
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    children.push_back(start_child(tests[i], environment, folder.path("output" + std::to_string(i))));
  }
  std::vector<ChildResult> results;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    int status = 0;
    ::waitpid(children[i], &status, 0);
    ChildResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.output = read_bytes(folder.path("output" + std::to_string(i)));
    results.push_back(std::move(result));
  }
  return results;
}

ChildResult run_child(const std::string& test, const Environment& environment) {
  return run_children({test}, environment).front();
}

void expect_passed(const ChildResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("[  PASSED  ] 1 test"), std::string::npos) << result.output;
}

}  // namespace headrace::test
