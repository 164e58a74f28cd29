// SPDX-License-Identifier: Apache-2.0
#include "common/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/preprocess_options.hpp"

namespace headrace::samples {
namespace {

constexpr int kUsageExitCode = 2;

void add_options(CLI::App& app, SampleOptions& options, PreprocessTexts& texts, bool is_async) {
  app.add_option("-m,--model", options.model, "IR file (.xml)")->required();
  app.add_option("-i,--input", options.pictures, "Pictures, or folders of pictures")->required();
  app.add_option("-d,--device", options.device, "CPU (default), POCL, HETERO:POCL,CPU, ...");
  app.add_option("-l,--labels", options.labels, "Text file with one label per line, class 0 first");
  app.add_option("--nt", options.top, "How many classes to print (default: 10)")->check(CLI::Range(1, 1000000));
  app.add_flag("--pc", options.is_profiling, "Print what each layer cost");
  if (is_async) {
    app.add_option("--nireq", options.requests, "Requests in flight (default: 2)")->check(CLI::Range(1, 1024));
    app.add_option("--niter", options.repeats, "Runs of each picture (default: 1)")->check(CLI::Range(1, 1000000));
  }
  add_preprocess_options(app, texts);
}

}  // namespace

ParsedSample parse_sample_options(int argc, const char* const* argv, const SampleInfo& info) {
  CLI::App app(info.description, info.name);
  SampleOptions options;
  PreprocessTexts texts;
  add_options(app, options, texts, info.is_async);
  try {
    app.parse(with_two_dashes(argc, argv, {"-nt", "-pc", "-nireq", "-niter"}));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, app.exit(error)};
    std::fprintf(stderr, "%s: error: %s (-h shows the usage)\n", info.name.c_str(), error.what());
    return {std::nullopt, kUsageExitCode};
  }
  options.pictures = expand_paths(options.pictures);
  options.preprocess = resolve_preprocess(texts, options.model);
  return {std::move(options), 0};
}

}  // namespace headrace::samples
