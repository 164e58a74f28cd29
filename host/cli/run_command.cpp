// SPDX-License-Identifier: Apache-2.0
// `headrace run`: one inference on .npy files.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/input_files.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/npy/npy.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// "scores", "scores_2", ...: each name once.
std::string unique_name(const std::string& name, std::set<std::string>& taken) {
  std::string candidate = name;
  for (int i = 2; !taken.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

struct OutputFile {
  std::string name;
  std::string file;  // inside the output folder; empty where none is written
  Tensor tensor;
};

std::vector<OutputFile> collect_outputs(const InferRequest& request, const std::vector<PortInfo>& ports,
                                        const std::string& folder) {
  std::vector<OutputFile> outputs;
  std::set<std::string> names;
  std::set<std::string> stems;
  if (!folder.empty()) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    check(!failed, ErrorCode::kIo, fmt::format("cannot make the output folder '{}': {}", folder, failed.message()));
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    OutputFile output{unique_name(ports[i].name, names), "", request.get_output_tensor(i)};
    if (!folder.empty()) {
      output.file = unique_name(file_stem_for(ports[i].name), stems) + ".npy";
      write_npy((fs::path(folder) / output.file).string(), output.tensor);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

void print_outputs(const std::vector<OutputFile>& outputs) {
  TextTable table({"OUTPUT", "TYPE", "SHAPE", "MIN", "MAX", "MEAN", "FILE"});
  for (const OutputFile& output : outputs) {
    const std::vector<double> values = to_doubles(output.tensor);
    double low = values.empty() ? std::nan("") : values[0];
    double high = low;
    double sum = 0.0;
    for (const double value : values) {  // NaN in the output must show
      low = value >= low ? low : value;
      high = value <= high ? high : value;
      sum += value;
    }
    const double mean = values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
    table.add({output.name, std::string(to_string(output.tensor.type())), to_string(output.tensor.shape()),
               fmt::format("{:g}", low), fmt::format("{:g}", high), fmt::format("{:g}", mean),
               output.file.empty() ? "-" : output.file});
  }
  fmt::print("{}", table.to_string());
}

Json to_json(const std::vector<OutputFile>& outputs) {
  Json rows = Json::object();
  for (const OutputFile& output : outputs) {
    rows[output.name] = {{"file", output.file.empty() ? Json(nullptr) : Json(output.file)},
                         {"shape", output.tensor.shape()},
                         {"type", std::string(to_string(output.tensor.type()))}};
  }
  return rows;
}

}  // namespace

int run_command(const RunOptions& options) {
  const Core core;
  const Model model = open_model(core, options.model);
  if (dump_if_asked(core, model, options.model)) return 0;
  const std::vector<PortInfo> inputs = model.inputs();
  const auto tensors = read_inputs(options.inputs, inputs);

  const CompiledModel net = core.compile_model(model, options.model.devices, properties_of(options.compile));
  InferRequest request = net.create_infer_request();
  for (const auto& [file, tensor] : tensors) {
    try {
      request.set_input_tensor(file.input, tensor);
    } catch (const Error& error) {
      rethrow_with_prefix(error, fmt::format("'{}'", file.path));
    }
  }
  request.infer();
  warn_if_only_cpu(net.placements(), options.model.devices);
  const std::vector<OutputFile> outputs = collect_outputs(request, net.outputs(), options.output_folder);
  if (options.is_json) {
    Json document{{"outputs", to_json(outputs)}};
    if (options.compile.is_profiling) document["profile"] = Json::parse(profile_json(request.profiling_info()));
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
    return 0;
  }
  print_outputs(outputs);
  if (options.compile.is_profiling) {
    fmt::print("\n{}\n{}", join(net.origins(), "\n"), profile_table(request.profiling_info()));
  }
  return 0;
}

}  // namespace headrace
