// SPDX-License-Identifier: Apache-2.0
// Reads every golden model and writes it again, plain and compressed; check_rewritten.py asks OpenVINO what it thinks.
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/ir/ir_reader.hpp"
#include "formats/ir/ir_writer.hpp"
#include "golden/golden.hpp"

namespace headrace::test {
namespace {

TEST(GoldenRewriteTest, WritesEveryModelAgain) {
  const std::string folder = environment("HEADRACE_GOLDEN_CASES", "build/golden/cases");
  const std::string output = environment("HEADRACE_GOLDEN_REWRITTEN", "build/golden/rewritten");
  std::filesystem::create_directories(output);
  int count = 0;
  for (const GoldenCase& golden : read_index(folder)) {
    try {
      const Graph graph = read_ir(golden.model);
      write_ir(graph, output + "/" + golden.name + ".xml");
      write_ir(graph, output + "/" + golden.name + "_f16.xml", {.compress_to_fp16 = true});
      ++count;
    } catch (const Error& error) {
      ADD_FAILURE() << golden.name << ": " << error.what();
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace headrace::test
