// SPDX-License-Identifier: Apache-2.0
// Opens the devices that tests run on, and fails where one that must be there is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "device/opencl/opencl_device.hpp"
#include "device/opencl/opencl_devices.hpp"
#include "support/op_case.hpp"

namespace headrace::test {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Platform names of the words that HEADRACE_REQUIRE_DEVICES takes.
const std::map<std::string, std::string>& known_runtimes() {
  static const std::map<std::string, std::string> kRuntimes = {
      {"pocl", "Portable Computing Language"},
      {"intel_cpu", "Intel(R) OpenCL"},
      {"fpga_emu", "Intel(R) FPGA Emulation Platform for OpenCL(TM)"}};
  return kRuntimes;
}

void check_required(const std::vector<OpenClDeviceEntry>& entries) {
  std::istringstream words(environment("HEADRACE_REQUIRE_DEVICES"));
  for (std::string word; std::getline(words, word, ',');) {
    const auto runtime = known_runtimes().find(word);
    if (runtime == known_runtimes().end()) {
      ADD_FAILURE() << "HEADRACE_REQUIRE_DEVICES: unknown word '" << word << "' (use pocl, intel_cpu, fpga_emu)";
      continue;
    }
    const bool is_there = std::any_of(entries.begin(), entries.end(), [&](const OpenClDeviceEntry& entry) {
      return entry.info.platform == runtime->second && entry.problem.empty();
    });
    if (!is_there) {
      ADD_FAILURE() << "device " << word << " is required (HEADRACE_REQUIRE_DEVICES) and missing; there is "
                    << opencl_device_names(entries);
    }
  }
}

struct TestDevices {
  std::vector<OpenClDeviceEntry> entries = list_opencl_devices();
  std::vector<std::unique_ptr<Device>> owners;
  std::vector<Device*> devices;

  TestDevices() {
    const std::string only = environment("HEADRACE_TEST_DEVICE");
    const OpenClOptions options{.cache_dir = environment("HEADRACE_TEST_CACHE_DIR"), .state_dir = "", .kernel_dir = ""};
    for (const OpenClDeviceEntry& entry : entries) {
      if (!entry.problem.empty() || (!only.empty() && entry.info.name != only)) continue;
      owners.push_back(make_opencl_device(entry.info.name, options));
      devices.push_back(owners.back().get());
    }
  }
};

std::unique_ptr<TestDevices>& test_devices() {
  static std::unique_ptr<TestDevices> devices;
  return devices;
}

// Closes the devices behind the last test: when static objects are destroyed, Oclgrind's compiler is gone already.
class CloseDevices : public ::testing::Environment {
 public:
  void TearDown() override { test_devices().reset(); }
};
[[maybe_unused]] const ::testing::Environment* const kCloseDevices =
    ::testing::AddGlobalTestEnvironment(new CloseDevices);

}  // namespace

const std::vector<Device*>& opencl_test_devices() {
  std::unique_ptr<TestDevices>& opened = test_devices();
  if (opened == nullptr) opened = std::make_unique<TestDevices>();
  check_required(opened->entries);
  if (opened->devices.empty()) ADD_FAILURE() << "no OpenCL device to test on; install pocl-opencl-icd";
  return opened->devices;
}

}  // namespace headrace::test
