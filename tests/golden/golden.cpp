// SPDX-License-Identifier: Apache-2.0
#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "formats/npy/npy.hpp"

namespace headrace::test {
namespace {

constexpr double kHalfTolerance = 2e-3;  // a result stored as f16

// Platform names of the words that HEADRACE_TEST_DEVICE and HEADRACE_REQUIRE_DEVICES take.
const std::map<std::string, std::string>& known_runtimes() {
  static const std::map<std::string, std::string> kRuntimes = {
      {"pocl", "Portable Computing Language"},
      {"intel_cpu", "Intel(R) OpenCL"},
      {"fpga_emu", "Intel(R) FPGA Emulation Platform for OpenCL(TM)"}};
  return kRuntimes;
}

std::vector<std::string> paths_of(const nlohmann::json& entry, const char* list, const char* single,
                                  const std::string& folder) {
  std::vector<std::string> paths;
  if (entry.contains(single)) return {folder + "/" + entry.at(single).get<std::string>()};
  for (const std::string name : entry.at(list)) paths.push_back(folder + "/" + name);
  return paths;
}

bool is_same_special(double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  return expected == actual;
}

std::string at_index(std::size_t index, double expected, double actual) {
  return "element " + std::to_string(index) + " is " + std::to_string(actual) + ", expected " +
         std::to_string(expected);
}

std::string float_difference(const std::vector<double>& expected, const std::vector<double>& actual, double tolerance) {
  double largest = 1.0;
  for (const double e : expected) {
    if (std::isfinite(e)) largest = std::max(largest, std::abs(e));
  }
  std::size_t worst = 0;
  double worst_error = -1.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i]) || !std::isfinite(actual[i])) {
      if (!is_same_special(expected[i], actual[i])) return at_index(i, expected[i], actual[i]);
      continue;
    }
    const double error = std::abs(expected[i] - actual[i]);
    if (error > worst_error) {
      worst = i;
      worst_error = error;
    }
  }
  if (worst_error <= tolerance * largest) return "";
  return at_index(worst, expected[worst], actual[worst]) + ", error " + std::to_string(worst_error);
}

}  // namespace

std::string environment(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

std::vector<GoldenCase> read_index(const std::string& folder) {
  std::ifstream file(folder + "/index.json");
  if (!file) throw std::runtime_error("no " + folder + "/index.json: run the scripts in tests/golden");
  std::vector<GoldenCase> cases;
  for (const nlohmann::json& entry : nlohmann::json::parse(file)) {
    GoldenCase golden;
    golden.name = entry.at("name");
    golden.op = entry.value("op", "");
    golden.model = folder + "/" + entry.at("model").get<std::string>();
    golden.inputs = paths_of(entry, "inputs", "input", folder);
    golden.outputs = paths_of(entry, "outputs", "output", folder);
    golden.tolerance = entry.at("tolerance");
    cases.push_back(std::move(golden));
  }
  return cases;
}

std::optional<std::string> test_device(const Core& core) {
  const std::string wanted = environment("HEADRACE_TEST_DEVICE", "CPU");
  const auto runtime = known_runtimes().find(wanted);
  if (runtime == known_runtimes().end()) return wanted;
  for (const DeviceSummary& device : core.devices()) {
    if (device.platform == runtime->second && device.problem.empty()) return device.name;
  }
  const std::string required = "," + environment("HEADRACE_REQUIRE_DEVICES") + ",";
  if (required.find("," + wanted + ",") != std::string::npos) {
    ADD_FAILURE() << "device " << wanted << " is required (HEADRACE_REQUIRE_DEVICES) and missing";
  }
  return std::nullopt;
}

std::string difference(const Tensor& expected, const Tensor& actual, double tolerance) {
  if (expected.type() != actual.type()) {
    return "type is " + std::string(to_string(actual.type())) + ", expected " + std::string(to_string(expected.type()));
  }
  if (expected.shape() != actual.shape()) {
    return "shape is " + to_string(actual.shape()) + ", expected " + to_string(expected.shape());
  }
  if (is_floating(expected.type())) {
    const double allowed = expected.type() == ElementType::f16 ? std::max(tolerance, kHalfTolerance) : tolerance;
    return float_difference(to_doubles(expected), to_doubles(actual), allowed);
  }
  const std::vector<std::int64_t> wanted = to_int64s(expected);
  const std::vector<std::int64_t> got = to_int64s(actual);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != got[i]) return at_index(i, static_cast<double>(wanted[i]), static_cast<double>(got[i]));
  }
  return "";
}

std::string run_golden_case(const Core& core, const std::string& device, const GoldenCase& golden) {
  const Model model = core.read_model(golden.model);
  const CompiledModel compiled = core.compile_model(model, device);
  InferRequest request = compiled.create_infer_request();
  std::vector<Tensor> inputs;
  for (const std::string& path : golden.inputs) inputs.push_back(read_npy(path));
  for (std::size_t i = 0; i < inputs.size(); ++i) request.set_input_tensor(i, inputs[i]);
  request.infer();
  for (std::size_t i = 0; i < golden.outputs.size(); ++i) {
    const std::string text = difference(read_npy(golden.outputs[i]), request.get_output_tensor(i), golden.tolerance);
    if (!text.empty()) return (golden.outputs.size() == 1 ? "" : "output " + std::to_string(i) + ": ") + text;
  }
  return "";
}

}  // namespace headrace::test
