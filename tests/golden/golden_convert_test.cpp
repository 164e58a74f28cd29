// SPDX-License-Identifier: Apache-2.0
// Converts every golden model to optimized IR, plain and compressed, and runs what was written on the CPU;
// check_converted.py asks OpenVINO for its answers.
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/npy/npy.hpp"
#include "golden/golden.hpp"

namespace headrace::test {
namespace {

// The largest networks repeat what the others show, and would need a gigabyte of disk.
constexpr std::uintmax_t kMaxWeightsBytes = 150'000'000;

bool is_small(const GoldenCase& golden) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(std::filesystem::path(golden.model).replace_extension(".bin"), ignored);
  return ignored || size <= kMaxWeightsBytes;
}

void run_converted(const Core& core, const std::string& path, const GoldenCase& golden) {
  const CompiledModel compiled = core.compile_model(core.read_model(path + ".xml"), "CPU");
  InferRequest request = compiled.create_infer_request();
  for (std::size_t i = 0; i < golden.inputs.size(); ++i) request.set_input_tensor(i, read_npy(golden.inputs[i]));
  request.infer();
  for (std::size_t i = 0; i < golden.outputs.size(); ++i) {
    write_npy(path + ".out" + std::to_string(i) + ".npy", request.get_output_tensor(i));
  }
}

int convert_all(const std::string& folder, const std::string& output) {
  std::filesystem::create_directories(output);
  const Core core;
  int count = 0;
  for (const GoldenCase& golden : read_index(folder)) {
    if (!is_small(golden)) continue;
    try {
      const Model model = core.read_model(golden.model);
      const std::string path = output + "/" + golden.name;
      convert_model(model, path + ".xml");
      run_converted(core, path, golden);
      convert_model(model, path + "_f16.xml", {.compress_to_fp16 = true});
      run_converted(core, path + "_f16", golden);
      ++count;
    } catch (const Error& error) {
      ADD_FAILURE() << golden.name << ": " << error.what();
    }
  }
  return count;
}

// HEADRACE_GOLDEN_CONVERT is a folder as make_cases.py, make_networks.py or make_unoptimized.py writes it.
TEST(GoldenConvertTest, ConvertsEveryModel) {
  const std::string folder = environment("HEADRACE_GOLDEN_CONVERT", "build/golden/cases");
  EXPECT_GT(convert_all(folder, environment("HEADRACE_GOLDEN_CONVERTED", "build/golden/converted")), 0);
}

}  // namespace
}  // namespace headrace::test
