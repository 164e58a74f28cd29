// SPDX-License-Identifier: Apache-2.0
// What the golden tests share: the index of stored answers, the device under test, the comparison of design.md
// section 8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace::test {

struct GoldenCase {
  std::string name;
  std::string op;     // empty for a whole network
  std::string model;  // paths
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  double tolerance = 0.0;
};

// Reads FOLDER/index.json as make_cases.py and make_networks.py write it. Throws std::runtime_error.
std::vector<GoldenCase> read_index(const std::string& folder);

// The device string to test: HEADRACE_TEST_DEVICE as it is, or, for the words pocl, intel_cpu and fpga_emu, the device
// of that runtime. Nothing where the runtime is missing; then the current test is failed if HEADRACE_REQUIRE_DEVICES
// names the word.
std::optional<std::string> test_device(const Core& core);

// How an answer differs from the stored one: "" where element types and shapes are equal, integers and booleans equal,
// NaN and infinities in the same places, and max |r - e| <= tolerance * max(1, max |e|).
std::string difference(const Tensor& expected, const Tensor& actual, double tolerance);

// Runs the case once. Returns the first output's difference, "" for none; throws what the runtime throws.
std::string run_golden_case(const Core& core, const std::string& device, const GoldenCase& golden);

// The value of an environment variable, or the fallback.
std::string environment(const char* name, const std::string& fallback = "");

}  // namespace headrace::test
