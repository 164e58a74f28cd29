// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace headrace {
namespace {

TEST(ParallelForTest, RunsEveryIndexOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> runs(count);
    parallel_for(count, [&](std::size_t i) { ++runs[i]; });
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(runs[i], 1) << i << " of " << count;
  }
}

TEST(ParallelForTest, FinishesAndThrowsTheFirstError) {
  std::atomic<int> runs = 0;
  std::string error;
  try {
    parallel_for(100, [&](std::size_t i) {
      ++runs;
      if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& thrown) {
    error = thrown.what();
  }
  EXPECT_EQ(error, "3");
  EXPECT_EQ(runs, 100);
}

}  // namespace
}  // namespace headrace
