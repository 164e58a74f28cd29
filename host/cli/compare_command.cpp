// SPDX-License-Identifier: Apache-2.0
// `headrace compare`: one run on two devices, or on one against a stored run, tensor by tensor.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "cli/commands.hpp"
#include "cli/compare_report.hpp"
#include "cli/input_files.hpp"
#include "cli/text.hpp"
#include "formats/npy/npy.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

using Inputs = std::vector<std::pair<std::size_t, Tensor>>;

std::size_t bytes_of(const InnerTensor& tensor) {
  return static_cast<std::size_t>(count_elems(tensor.shape)) * size_bytes(tensor.element_type);
}

Inputs make_inputs(const Model& model, const std::vector<std::string>& texts) {
  const std::vector<PortInfo> ports = model.inputs();
  Inputs inputs;
  if (texts.empty()) {
    for (std::size_t i = 0; i < ports.size(); ++i) inputs.emplace_back(i, random_tensor(ports[i]));
    return inputs;
  }
  for (auto& [file, tensor] : read_inputs(texts, ports)) inputs.emplace_back(file.input, std::move(tensor));
  return inputs;
}

// What one compiled network holds of inner tensors at a time.
std::vector<std::vector<InnerTensor>> cut_chunks(const std::vector<InnerTensor>& tensors, std::size_t max_bytes) {
  std::vector<std::vector<InnerTensor>> chunks;
  std::size_t bytes = 0;
  for (const InnerTensor& tensor : tensors) {
    if (chunks.empty() || bytes + bytes_of(tensor) > max_bytes) {
      chunks.emplace_back();
      bytes = 0;
    }
    bytes += bytes_of(tensor);
    chunks.back().push_back(tensor);
  }
  return chunks;
}

// Runs the model once with the tensors of the chunk as outputs; they are clones, so that nothing else stays alive.
std::vector<Tensor> run_chunk(const Core& core, const Model& model, const std::string& devices, const Inputs& inputs,
                              const std::vector<InnerTensor>& chunk) {
  const std::size_t first = model.outputs().size();
  const CompiledModel net = core.compile_model(model.with_outputs(chunk), devices);
  InferRequest request = net.create_infer_request();
  for (const auto& [index, tensor] : inputs) request.set_input_tensor(index, tensor);
  request.infer();
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < chunk.size(); ++i) values.push_back(request.get_output_tensor(first + i).clone());
  return values;
}

// Layers that an ordinary run fuses otherwise than one with these tensors as outputs.
std::vector<std::string> changed_fusions(const Core& core, const Model& model, const std::string& devices,
                                         const std::vector<std::vector<InnerTensor>>& chunks) {
  const auto fusions = [&](const Model& wanted) {
    std::set<std::pair<std::string, std::string>> rows;
    for (const LayerPlacement& placement : core.query_model(wanted, devices)) {
      if (placement.subgraph >= 0) rows.emplace(placement.layer, join(placement.fused, ","));
    }
    return rows;
  };
  const auto ordinary = fusions(model);
  std::set<std::string> changed;
  for (const auto& chunk : chunks) {
    for (const auto& row : fusions(model.with_outputs(chunk))) {
      if (ordinary.count(row) == 0) changed.insert(row.first);
    }
  }
  return {changed.begin(), changed.end()};
}

// File names for tensors, each once: two names may differ in characters that file names leave out.
using Stems = std::map<std::pair<std::int32_t, std::int32_t>, std::string>;

Stems make_stems(const std::vector<InnerTensor>& tensors) {
  Stems stems;
  std::set<std::string> taken;
  for (const InnerTensor& tensor : tensors) {
    const std::string stem = file_stem_for(tensor.name);
    std::string candidate = stem;
    for (int i = 2; !taken.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", stem, i);
    stems[{tensor.node, tensor.port}] = candidate;
  }
  return stems;
}

void make_folder(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  check(!failed, ErrorCode::kIo, fmt::format("cannot make the folder '{}': {}", folder, failed.message()));
}

class Comparison {
 public:
  Comparison(const Core& core, const Model& model, const CompareOptions& options)
      : core_(core), model_(model), options_(options), inputs_(make_inputs(model, options.inputs)) {}

  CompareReport run() {
    report_.devices = options_.model.devices;
    report_.reference = options_.against.empty() ? options_.reference : options_.against;
    report_.tolerance = options_.tolerance;
    const auto tensors = wanted_tensors();
    const auto chunks = cut_chunks(tensors, static_cast<std::size_t>(options_.memory_mb) << 20U);
    report_.refused = changed_fusions(core_, model_, options_.model.devices, chunks);
    ProgressBar bar("compare");
    for (const auto& chunk : chunks) {
      bar.show(static_cast<double>(report_.tensors.size()) / static_cast<double>(tensors.size()), chunk[0].layer);
      compare_chunk(chunk);
    }
    return std::move(report_);
  }

 private:
  // All of them, or those that the stored run has.
  std::vector<InnerTensor> wanted_tensors() {
    std::vector<InnerTensor> tensors = core_.inner_tensors(model_, options_.model.devices);
    stems_ = make_stems(tensors);
    if (options_.against.empty()) return tensors;
    std::error_code ignored;
    check(fs::is_directory(options_.against, ignored), ErrorCode::kIo,
          fmt::format("--against '{}' is no folder", options_.against));
    std::erase_if(tensors, [&](const InnerTensor& tensor) {
      std::error_code failed;
      const bool is_missing = !fs::is_regular_file(path_in(options_.against, tensor), failed);
      if (is_missing) report_.missing.push_back(tensor.name);
      return is_missing;
    });
    if (tensors.empty()) {
      fail(ErrorCode::kInvalidArgument,
           fmt::format("'{}' holds no tensor of the model; files are named by tensor, as --save makes them: {}.npy",
                       options_.against, report_.missing.empty() ? "NAME" : file_stem_for(report_.missing.front())));
    }
    return tensors;
  }

  void compare_chunk(const std::vector<InnerTensor>& chunk) {
    const std::vector<Tensor> values = run_chunk(core_, model_, options_.model.devices, inputs_, chunk);
    if (!options_.save_folder.empty()) {
      make_folder(options_.save_folder);
      for (std::size_t i = 0; i < chunk.size(); ++i) write_npy(path_in(options_.save_folder, chunk[i]), values[i]);
    }
    if (!options_.against.empty()) {
      add(chunk, values, [&](std::size_t i) { return read_npy(path_in(options_.against, chunk[i])); });
    } else if (!options_.reference.empty()) {
      const std::vector<Tensor> expected = run_chunk(core_, model_, options_.reference, inputs_, chunk);
      add(chunk, values, [&](std::size_t i) { return expected[i]; });
    }
  }

  std::string path_in(const std::string& folder, const InnerTensor& tensor) const {
    return (fs::path(folder) / (stems_.at({tensor.node, tensor.port}) + ".npy")).string();
  }

  void add(const std::vector<InnerTensor>& chunk, const std::vector<Tensor>& values,
           const std::function<Tensor(std::size_t)>& expected) {
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      InnerTensor tensor = chunk[i];
      tensor.shape = values[i].shape();  // known in the run only, perhaps
      report_.tensors.push_back({std::move(tensor), compare_tensors(values[i], expected(i))});
    }
  }

  const Core& core_;
  const Model& model_;
  const CompareOptions& options_;
  Inputs inputs_;
  Stems stems_;
  CompareReport report_;
};

}  // namespace

int run_command(const CompareOptions& options) {
  const Core core;
  const Model model = open_model(core, options.model);
  const CompareReport report = Comparison(core, model, options).run();
  if (options.is_json) {
    fmt::print("{}\n", report_json(report));
  } else if (report.tensors.empty()) {
    fmt::print("stored {} in {}\n", report.devices, options.save_folder);
  } else {
    print_report(report);
  }
  const ComparedTensor* first = first_divergence(report);
  if (first == nullptr) return 0;
  const TensorDifference& difference = first->difference;
  const std::string what =
      !difference.problem.empty() ? difference.problem
      : difference.mismatched != 0
          ? fmt::format("{} elements are NaN or infinite in one only", difference.mismatched)
          : fmt::format("relative difference {:.3g}, tolerance {:g}", difference.relative, options.tolerance);
  std::fflush(stdout);  // the table stands before the line that sums it up
  fail(ErrorCode::kBadModel, fmt::format("{} and {} part first at {}: {}", report.devices, report.reference,
                                         layer_text(first->tensor), what));
}

}  // namespace headrace
