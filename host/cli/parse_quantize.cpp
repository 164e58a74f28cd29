// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_quantize.hpp"

#include <CLI/CLI.hpp>

namespace headrace {
namespace {

void add_calibration(CLI::App* command, QuantizeOptions& options) {
  command
      ->add_option(
          "--data", options.data,
          "Pictures or .npy files: a folder, a file, a list of PATH [LABEL] lines; NAME=... for one of several "
          "inputs; may be given several times")
      ->allow_extra_args(false)
      ->required();
  command->add_option("--subset", options.subset, "Samples that statistics are taken of (default: 300)")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("-d,--device", options.devices, "What the calibration runs on (default: CPU)");
  command->add_option("--preset", options.preset, "mixed (default), or performance: activations symmetric around zero")
      ->check(CLI::IsMember({"performance", "mixed"}));
  auto* method = command->add_option("--method", options.method, "Ranges by minmax (default), percentile or mse")
                     ->check(CLI::IsMember({"minmax", "percentile", "mse"}));
  command
      ->add_option("--percentile", options.percentile, "Of the values that a range holds on each side (default: 99.99)")
      ->check(CLI::Range(50.001, 100.0))
      ->needs(method);
  command->add_option("--ignore", options.ignored_layers, "Layer that stays in floats")->allow_extra_args(false);
  command->add_option("--ignore-type", options.ignored_types, "Type of layers that stay in floats")
      ->allow_extra_args(false);
  command->add_flag("!--no-bias-correction", options.corrects_bias, "Leave the mean error of each channel as it is");
}

void add_check(CLI::App* command, QuantizeOptions& options) {
  auto* check = command->add_flag("--accuracy-check", options.is_checked,
                                  "Compare with the network in floats on the data, and put layers back until the drop "
                                  "is small enough");
  command->add_option("--max-drop", options.max_drop, "That drop (default: 0.01)")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(check);
  command->add_option("--labels", options.labels, "Text file with the right class of each sample, one per line")
      ->needs(check);
}

void add_preparation(CLI::App* command, QuantizeOptions& options) {
  const auto list = [command](const char* name, std::vector<std::string>& values, const char* help) {
    command->add_option(name, values, help)->allow_extra_args(false);
  };
  list("--input-shape", options.preparation.input_shapes, "NAME[1,3,224,224], as for convert");
  list("--mean", options.preparation.means, "R,G,B or NAME[R,G,B], baked in as by convert");
  list("--scale", options.preparation.scales, "R,G,B or NAME[R,G,B], baked in as by convert");
  list("--layout", options.preparation.layouts, "NAME(nhwc) or NAME(nhwc->nchw), as for convert");
  command->add_flag("--reverse-input-channels", options.preparation.is_reversed, "As for convert");
  command->add_option(
      "--preprocess", options.preprocess,
      "JSON with mean, scale, channels, size for pictures (default: MODEL's .json, where neither --mean "
      "nor --scale nor --reverse-input-channels is given)");
}

}  // namespace

void add_quantize(CLI::App& app, QuantizeOptions& options, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("quantize", "Write a model for computation in bytes, calibrated on data");
  command->add_option("model", options.model, "Model file, in floats")->required();
  command->add_option("-w,--weights", options.weights, "Weights file (default: beside the model)");
  command->add_option("-o,--output-file", options.output, "IR to write (.xml; its .bin beside it)")->required();
  add_calibration(command, options);
  add_check(command, options);
  add_preparation(command, options);
  command->add_flag("--json", options.is_json, "Print one JSON document on stdout and nothing else");
  command->callback([&options, &result] {
    if (options.method != "percentile" && options.percentile != QuantizeOptions().percentile) {
      throw CLI::ValidationError("--percentile", "is for --method percentile");
    }
    result = options;
  });
}

}  // namespace headrace
