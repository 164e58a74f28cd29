// SPDX-License-Identifier: Apache-2.0
// Runs the cases that make_node_cases.py, make_report_cases.py, make_models.py, tests/caffe or tests/tensorflow wrote
// and counts them: right, refused, wrong. A case with an "error" is right where the model is refused by these words.
//
//   onnx_node_cases INDEX_FOLDER DEVICES [-v] [GROUP=LEAST_RIGHT]... [only=PART_OF_A_NAME]
//
// Exit code 1 where a case is wrong, fails with anything but a refusal, or fewer of a group are right than said.
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "formats/npy/npy.hpp"
#include "golden/golden.hpp"
#include "headrace/headrace.hpp"

namespace {

using headrace::Core;
using headrace::Tensor;

constexpr double kTolerance = 1e-4;  // design.md section 8: single operators; whole networks say their own

// The case that runs now, for the last words of a crash.
char current_case[256];

extern "C" void say_case_and_die(int signal_number) {
  const char text[] = "crashed in ";
  [[maybe_unused]] auto n = write(2, text, sizeof text - 1);
  n = write(2, current_case, std::strlen(current_case));
  n = write(2, "\n", 1);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

struct Outcome {
  enum class Kind { kRight, kRefused, kWrong } kind = Kind::kRight;
  std::string reason;
};

struct Count {
  int right = 0, refused = 0, wrong = 0;
};

std::string run(const Core& core, const std::string& devices, const nlohmann::json& entry, const std::string& folder) {
  auto model = core.read_model(entry.at("model").get<std::string>());
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < entry.at("inputs").size(); ++i) {
    if (entry.at("inputs")[i].is_null()) return "input " + std::to_string(i) + " has no type that Headrace stores";
    inputs.push_back(headrace::read_npy(folder + "/" + entry.at("inputs")[i].get<std::string>()));
    // Files hold bfloat16 as float32.
    const headrace::PortInfo port = model.inputs().at(i);
    if (port.type == headrace::ElementType::bf16) model.set_input_type(port.name, inputs.back().type());
  }
  auto request = core.compile_model(model, devices).create_infer_request();
  for (std::size_t i = 0; i < inputs.size(); ++i) request.set_input_tensor(i, inputs[i]);
  request.infer();
  for (std::size_t i = 0; i < entry.at("outputs").size(); ++i) {
    if (entry.at("outputs")[i].is_null()) return "output " + std::to_string(i) + " has no type that Headrace stores";
    const Tensor expected = headrace::read_npy(folder + "/" + entry.at("outputs")[i].get<std::string>());
    Tensor result = request.get_output_tensor(i);
    if (result.type() == headrace::ElementType::bf16) result = convert(result, expected.type());
    const double tolerance = entry.value("tolerance", kTolerance);
    const std::string difference = headrace::test::difference(expected, result, tolerance);
    if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
  }
  return "";
}

Outcome outcome_of(const Core& core, const std::string& devices, const nlohmann::json& entry,
                   const std::string& folder) {
  const std::string wanted_error = entry.value("error", "");
  try {
    const std::string difference = run(core, devices, entry, folder);
    if (!wanted_error.empty()) return {Outcome::Kind::kWrong, "is not refused"};
    return {difference.empty() ? Outcome::Kind::kRight : Outcome::Kind::kWrong, difference};
  } catch (const headrace::Error& error) {
    if (!wanted_error.empty() && std::string_view(error.what()).find(wanted_error) != std::string_view::npos) {
      return {Outcome::Kind::kRight, ""};
    }
    const bool is_refusal = error.code() == headrace::ErrorCode::kUnsupported;
    return {is_refusal ? Outcome::Kind::kRefused : Outcome::Kind::kWrong,
            (is_refusal ? "" : std::string(headrace::to_string(error.code())) + ": ") + error.what()};
  } catch (const std::exception& error) {
    return {Outcome::Kind::kWrong, error.what()};
  }
}

struct Options {
  std::string folder;
  std::string devices;
  std::string only;
  bool is_verbose = false;
  std::map<std::string, int> least_right;
};

Options parse(int argc, char** argv) {
  Options options{argv[1], argv[2], "", false, {}};
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (argument == "-v") {
      options.is_verbose = true;
    } else if (argument.rfind("only=", 0) == 0) {
      options.only = argument.substr(equals + 1);
    } else if (equals != std::string::npos) {
      options.least_right[argument.substr(0, equals)] = std::stoi(argument.substr(equals + 1));
    }
  }
  return options;
}

std::map<std::string, Count> run_all(const Options& options) {
  std::ifstream file(options.folder + "/index.json");
  if (!file) throw std::runtime_error("cannot read '" + options.folder + "/index.json': run make_node_cases.py first");
  const nlohmann::json index = nlohmann::json::parse(file);
  const Core core;
  std::map<std::string, Count> counts;
  for (const nlohmann::json& entry : index) {
    const std::string name = entry.at("name");
    if (name.find(options.only) == std::string::npos) continue;
    std::snprintf(current_case, sizeof current_case, "%s", name.c_str());
    const Outcome outcome = outcome_of(core, options.devices, entry, options.folder);
    Count& count = counts[entry.at("group")];
    switch (outcome.kind) {
      case Outcome::Kind::kRight: ++count.right; break;
      case Outcome::Kind::kRefused: ++count.refused; break;
      case Outcome::Kind::kWrong: ++count.wrong; break;
    }
    if (outcome.kind == Outcome::Kind::kWrong) std::cout << "WRONG " << name << ": " << outcome.reason << std::endl;
    if (outcome.kind == Outcome::Kind::kRefused && options.is_verbose) {
      std::cout << "refused " << name << ": " << outcome.reason << std::endl;
    }
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: onnx_node_cases INDEX_FOLDER DEVICES [-v] [GROUP=LEAST_RIGHT]... [only=PART_OF_A_NAME]\n";
    return 2;
  }
  for (const int signal_number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal_number, say_case_and_die);
  const Options options = parse(argc, argv);
  const std::map<std::string, Count> counts = run_all(options);
  bool is_good = !counts.empty();
  for (const auto& [group, count] : counts) {
    const int total = count.right + count.refused + count.wrong;
    std::cout << group << ": " << count.right << " right, " << count.refused << " refused, " << count.wrong
              << " wrong of " << total << "\n";
    const auto least = options.least_right.find(group);
    const bool is_enough = least == options.least_right.end() || count.right >= least->second;
    if (!is_enough) std::cout << group << ": expected at least " << least->second << " right\n";
    is_good = is_good && count.wrong == 0 && is_enough;
  }
  return is_good ? 0 : 1;
}
