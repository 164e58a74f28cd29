// SPDX-License-Identifier: Apache-2.0
#include "validation_app/validation_options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/preprocess_options.hpp"

namespace headrace::samples {
namespace {

constexpr int kUsageExitCode = 2;

void add_options(CLI::App& app, ValidationOptions& options, std::string& task) {
  app.add_option("-m,--model", options.model, "Model file")->required();
  app.add_option("-i,--input", options.input,
                 "List of PICTURE LABEL lines, folder of folders named by class, or IDX file; "
                 "with -t OD: folder of pictures")
      ->required();
  app.add_option("-d,--device", options.device, "CPU (default), POCL, HETERO:POCL,CPU, ...");
  app.add_option("-l,--labels", options.labels, "Text file with one label per line, class 0 first");
  app.add_option("-t,--task", task, "C: classification (default), OD: object detection")
      ->check(CLI::IsMember({"C", "OD"}));
  app.add_flag("--background,--Czb", options.has_background,
               "Class 0 of the network is the background: label k is its class k + 1");
  app.add_option("--idx-labels", options.idx_labels, "IDX file of the labels (default: beside the pictures')");
  app.add_option("--annotations", options.annotations, "Folder of VOC annotations (default: beside the pictures)");
  app.add_option("--limit", options.limit, "Use the first N pictures only")->check(CLI::Range(1, 1 << 30));
}

}  // namespace

ParsedValidation parse_validation_options(int argc, const char* const* argv) {
  CLI::App app("Measures how often a network is right: top-1 and top-5, or mAP.", "validation_app");
  ValidationOptions options;
  PreprocessTexts texts;
  std::string task = "C";
  add_options(app, options, task);
  add_preprocess_options(app, texts);
  try {
    app.parse(with_two_dashes(argc, argv, {"-Czb"}));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, app.exit(error)};
    std::fprintf(stderr, "validation_app: error: %s (-h shows the usage)\n", error.what());
    return {std::nullopt, kUsageExitCode};
  }
  options.is_detection = task == "OD";
  options.preprocess = resolve_preprocess(texts, options.model);
  return {std::move(options), 0};
}

}  // namespace headrace::samples
