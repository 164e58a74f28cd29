// SPDX-License-Identifier: Apache-2.0
// Every single-operator case of make_cases.py on the device of HEADRACE_TEST_DEVICE, against OpenVINO's stored answers.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string_view>

#include "golden/golden.hpp"
#include "ops/descriptor.hpp"

namespace headrace::test {
namespace {

// Cases that a device may refuse. A refusal that is not listed fails the test, and so does a listed case that runs.
struct KnownRefusal {
  std::string_view device;  // as in HEADRACE_TEST_DEVICE; "OpenCL": all but CPU
  std::string_view name;    // start of the case's name
  std::string_view why;
};

constexpr KnownRefusal kKnownRefusals[] = {
    {"OpenCL", "Convolution_dynamic_weights", "weights are packed at compilation, so they must be constant"},
};

bool is_known_refusal(const GoldenCase& golden, const std::string& device) {
  for (const KnownRefusal& known : kKnownRefusals) {
    const bool is_device = known.device == device || (known.device == "OpenCL" && device != "CPU");
    if (is_device && golden.name.substr(0, known.name.size()) == known.name) return true;
  }
  return false;
}

// Operators without an OpenCL form must be refused there, and with this reason.
bool is_host_only_refusal(const GoldenCase& golden, const std::string& message) {
  const OpDescriptor* op = find_op(golden.op);
  return op != nullptr && op->supports == nullptr && message.find("no OpenCL form") != std::string::npos;
}

struct Tally {
  int passed = 0;
  int failed = 0;
  int refused = 0;
  int allowed_refusals = 0;
};

// Runs one case and counts it.
void count_case(const Core& core, const std::string& device, const GoldenCase& golden, Tally& tally) {
  try {
    const std::string text = run_golden_case(core, device, golden);
    if (text.empty() && !is_known_refusal(golden, device)) {
      ++tally.passed;
      return;
    }
    ++tally.failed;
    ADD_FAILURE() << golden.name << " on " << device << ": "
                  << (text.empty() ? "runs: strike its known refusal" : text);
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const bool is_refusal = known != nullptr && known->code() == ErrorCode::kUnsupported;
    ++(is_refusal ? tally.refused : tally.failed);
    if (is_refusal && (is_known_refusal(golden, device) || is_host_only_refusal(golden, error.what()))) {
      ++tally.allowed_refusals;
      return;
    }
    ADD_FAILURE() << golden.name << " on " << device << ": " << error.what();
  }
}

void print_tally(const std::map<std::string, Tally>& tallies, const std::string& device) {
  Tally sum;
  for (const auto& [op, tally] : tallies) {
    sum.passed += tally.passed;
    sum.failed += tally.failed;
    sum.refused += tally.refused;
    sum.allowed_refusals += tally.allowed_refusals;
    if (tally.failed + tally.refused == tally.allowed_refusals) continue;
    std::cout << "golden: " << device << ": " << op << ": " << tally.passed << " passed, " << tally.failed
              << " failed, " << tally.refused << " refused\n";
  }
  std::cout << "golden: " << device << ": " << sum.passed << " cases passed, " << sum.failed << " failed, "
            << sum.refused << " refused (" << sum.allowed_refusals << " of them known), " << tallies.size()
            << " operators\n";
}

TEST(GoldenOpsTest, AgreesWithOpenVino) {
  const Core core;
  const std::optional<std::string> device = test_device(core);
  if (!device) GTEST_SKIP() << "no device " << environment("HEADRACE_TEST_DEVICE");
  const std::string only = environment("HEADRACE_GOLDEN_ONLY");
  std::map<std::string, Tally> tallies;
  for (const GoldenCase& golden : read_index(environment("HEADRACE_GOLDEN_CASES", "build/golden/cases"))) {
    if (golden.name.find(only) == std::string::npos) continue;
    count_case(core, *device, golden, tallies[golden.op]);
  }
  print_tally(tallies, *device);
  EXPECT_FALSE(tallies.empty()) << "no case's name contains '" << only << "'";
}

}  // namespace
}  // namespace headrace::test
