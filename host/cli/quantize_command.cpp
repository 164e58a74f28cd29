// SPDX-License-Identifier: Apache-2.0
// `headrace quantize`: calibrates a model on data and writes it with FakeQuantize.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/convert_texts.hpp"
#include "cli/interrupt.hpp"
#include "cli/quantize_data.hpp"
#include "cli/text.hpp"
#include "core/file.hpp"
#include "runtime/html_text.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMaxLabelBytes = std::size_t{1} << 28U;
constexpr std::size_t kShownLayers = 10;

// What is baked into the network must not be done to the pictures too.
PictureOptions picture_options(const QuantizeOptions& options) {
  if (!options.preprocess.empty()) return {options.preprocess};
  const PreparationOptions& baked = options.preparation;
  if (!baked.means.empty() || !baked.scales.empty() || baked.is_reversed) return {};
  const std::string beside = std::filesystem::path(options.model).replace_extension(".json").string();
  std::error_code failed;
  return {std::filesystem::exists(beside, failed) ? beside : ""};
}

std::vector<std::int64_t> read_labels(const std::string& path) {
  const std::string text = read_file(path, kMaxLabelBytes, "labels");
  std::vector<std::int64_t> labels;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    std::int64_t label = -1;
    const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), label);
    if (error != std::errc() || last != line.data() + line.size() || label < 0) {
      fail(ErrorCode::kBadModel, fmt::format("--labels '{}': '{}' is no class number", path, line));
    }
    labels.push_back(label);
  }
  return labels;
}

QuantizationOptions quantization_options(const QuantizeOptions& options, std::vector<std::int64_t> labels) {
  using Preset = QuantizationOptions::Preset;
  using Method = QuantizationOptions::Method;
  QuantizationOptions result;
  result.preset = options.preset == "mixed" ? Preset::kMixed : Preset::kPerformance;
  result.method = options.method == "minmax" ? Method::kMinMax
                  : options.method == "mse"  ? Method::kMse
                                             : Method::kPercentile;
  result.percentile = options.percentile;
  result.subset = static_cast<std::size_t>(options.subset);
  result.ignored_layers = options.ignored_layers;
  result.ignored_types = options.ignored_types;
  result.devices = options.devices;
  result.corrects_bias = options.corrects_bias;
  result.state_path = options.output + ".calibration";
  if (options.is_checked) {
    if (!options.labels.empty()) labels = read_labels(options.labels);
    result.accuracy = {options.max_drop, std::move(labels)};
  }
  return result;
}

void print_accuracy(const QuantizationReport& report) {
  TextTable trials({"LAYERS PUT BACK", "DROP"});
  for (const auto& trial : report.trials)
    trials.add({std::to_string(trial.put_back), fmt::format("{:.4f}", trial.drop)});
  fmt::print("\n{}{}: {:.4f} in floats, {:.4f} as written, drop {:.4f}\n", trials.to_string(), report.measure,
             report.float_value, report.quantized_value, report.drop);
}

void print_kept(const QuantizationReport& report) {
  if (report.kept.empty()) return;
  TextTable table({"STAYS IN FLOATS", "TYPE", "WHY"});
  for (const auto& layer : report.kept) table.add({layer.name, layer.type, layer.reason});
  fmt::print("\n{}", table.to_string());
}

void print_summary(const QuantizationReport& report) {
  auto layers = report.layers;
  std::stable_sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) { return a.noise > b.noise; });
  const std::size_t shown = std::min(layers.size(), kShownLayers);
  TextTable table({"NOISIEST LAYERS", "TYPE", "RANGE OF THE DATA", "NOISE"});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& layer = layers[i];
    table.add({layer.name, layer.type, fmt::format("{:.4g} .. {:.4g}", layer.low, layer.high),
               fmt::format("{:.2e}", layer.noise)});
  }
  fmt::print("{}", table.to_string());
  print_kept(report);
  if (!report.measure.empty()) print_accuracy(report);
  const std::string resumed =
      report.resumed == 0 ? "" : fmt::format(", {} of them before an interrupt", report.resumed);
  fmt::print("\n{} layers quantized by {} samples{}, {} stay in floats\nwrote {} and {} ({})\n", report.layers.size(),
             report.samples, resumed, report.kept.size(), report.xml_path, report.bin_path,
             with_bytes(static_cast<double>(report.file_bytes)));
}

}  // namespace

int run_command(const QuantizeOptions& options) {
  const ConversionOptions preparation = preparation_of(options.preparation);
  const Core core;
  stop_on_interrupt();
  QuantizationReport report;
  {
    ProgressBar bar("quantize");
    bar.show(0.0, "reading " + options.model);
    const Model model = bake_model(core.read_model(options.model, options.weights), preparation);
    const QuantizeData found = find_quantize_data(options.data, model.inputs(), picture_options(options));
    report = quantize_model(core, model, options.output, found.data, quantization_options(options, found.labels),
                            [&bar](double fraction, std::string_view stage) {
                              bar.show(fraction, stage);
                              return !is_interrupted();
                            });
  }
  if (options.is_json) {
    fmt::print("{}\n", quantization_json(report));
  } else {
    print_summary(report);
  }
  return 0;
}

}  // namespace headrace
