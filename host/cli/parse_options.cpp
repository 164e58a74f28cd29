// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/parse_quantize.hpp"
#include "cli/text.hpp"

namespace headrace {
namespace {

constexpr int kUsageExitCode = 2;

// Options live here while CLI11 fills them; the chosen subcommand's struct becomes the result.
struct AllOptions {
  DevicesOptions devices;
  ProgramOptions program;
  BitstreamBuildOptions build;
  BitstreamShowOptions show;
  BitstreamListOptions list;
  ConvertOptions convert;
  QuantizeOptions quantize;
  ShowOptions show_model;
  QueryOptions query;
  RunOptions run;
  CompareOptions compare;
  BenchOptions bench;
  TuneOptions tune;
};

// Ties a subcommand to the struct that it fills.
template <typename Options>
void set_result(CLI::App* command, const Options& options, std::optional<Command>& result) {
  command->callback([&options, &result] { result = options; });
}

void add_json(CLI::App* command, bool& is_json) {
  command->add_flag("--json", is_json, "Print one JSON document on stdout and nothing else");
}

void add_model(CLI::App* command, ModelOptions& model, bool is_device_needed) {
  command->add_option("model", model.model, "IR (.xml), ONNX (.onnx), TensorFlow (.pb) or Caffe (.prototxt) file")
      ->required();
  command->add_option("-w,--weights", model.weights, "Weights file (default: beside the model)");
  auto* device = command->add_option("-d,--device", model.devices, "CPU, CL.0, POCL, HETERO:FPGA,GPU,CPU, ...");
  if (is_device_needed) device->required();
  command->add_option("--input-shape", model.input_shapes, "NAME[1,3,224,224]; may be given several times")
      ->allow_extra_args(false);
  command->add_option("--dump", model.dump, "after:PASS prints the graph after that pass and stops");
}

void add_devices(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("devices", "List the devices and what is programmed on them");
  add_json(command, all.devices.is_json);
  set_result(command, all.devices, result);
}

void add_program(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("program", "Program a bitstream into a device");
  command->add_option("device", all.program.device, "One device")->required();
  auto* file = command->add_option("file", all.program.file, "Bitstream (.hrb)");
  command->add_flag("--erase", all.program.is_erase, "Forget what is programmed")->excludes(file);
  add_json(command, all.program.is_json);
  command->callback([&all, &result] {
    if (all.program.file.empty() && !all.program.is_erase) throw CLI::RequiredError("FILE.hrb or --erase");
    result = all.program;
  });
}

void add_bitstream(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* group = app.add_subcommand("bitstream", "Build, show and list bitstreams");
  group->require_subcommand(1);
  CLI::App* build = group->add_subcommand("build", "Build a bitstream for a device");
  build->add_option("recipe", all.build.recipe, "Recipe (.json)")->required();
  build->add_option("-d,--device", all.build.device, "One device")->required();
  build->add_option("-o,--output", all.build.output, "Bitstream to write (.hrb)")->required();
  add_json(build, all.build.is_json);
  set_result(build, all.build, result);

  CLI::App* show = group->add_subcommand("show", "Check a bitstream and show its manifest");
  show->add_option("file", all.show.file, "Bitstream (.hrb)")->required();
  add_json(show, all.show.is_json);
  set_result(show, all.show, result);

  CLI::App* list = group->add_subcommand("list", "List recipes and bitstreams, or which of them fit a model");
  list->add_option("--for", all.list.model.model, "Model whose kernels are looked for");
  list->add_option("-w,--weights", all.list.model.weights, "Weights file of that model (default: beside it)");
  list->add_option("-d,--device", all.list.model.devices, "Device that the kernels are chosen for (default: POCL)")
      ->default_str("POCL");
  list->add_option("--input-shape", all.list.model.input_shapes, "NAME[1,3,224,224]")->allow_extra_args(false);
  list->add_option("--dir", all.list.folder, "Folder to look in (default: bitstreams)");
  add_json(list, all.list.is_json);
  set_result(list, all.list, result);
}

void add_convert(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("convert", "Write a model as optimized OpenVINO IR");
  ConvertOptions& options = all.convert;
  const auto list = [command](const char* name, std::vector<std::string>& values, const char* help) {
    command->add_option(name, values, help)->allow_extra_args(false);
  };
  command->add_option("model", options.model, "Model file")->required();
  command->add_option("-w,--weights", options.weights, "Weights file (default: beside the model)");
  command->add_option("-o,--output-file", options.output, "IR to write (.xml; its .bin beside it)")->required();
  list("--input-shape", options.preparation.input_shapes,
       "NAME[1,3,224,224], in the file's layout; ? leaves a dimension open");
  list("--output", options.outputs, "Tensor or layer that becomes an output, in place of the file's");
  command->add_option("--batch", options.batch, "Batch of every input that has one")->check(CLI::Range(1, 1 << 20));
  list("--mean", options.preparation.means,
       "R,G,B or NAME[R,G,B]: subtracted from the input, in the network's channel order");
  list("--scale", options.preparation.scales, "R,G,B or NAME[R,G,B]: what the input is divided by after that");
  command->add_flag("--reverse-input-channels", options.preparation.is_reversed,
                    "Take BGR where the network wants RGB, or back");
  list("--layout", options.preparation.layouts,
       "NAME(nhwc) tells an input's layout; NAME(nhwc->nchw) has it given as the second");
  command->add_flag("--compress-to-fp16", options.compresses, "Store f32 constants in half the bytes");
  command->add_option("--report", options.report, "Write what was done as .html or .json")
      ->check([](const std::string& path) {
        return path.ends_with(".html") || path.ends_with(".json") ? "" : "the report's name ends in .html or .json";
      });
  add_json(command, options.is_json);
  set_result(command, options, result);
}

void add_show(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("show", "Show a model's layers, what they cost, and a picture of it");
  ModelOptions& model = all.show_model.model;
  command->add_option("model", model.model, "Model file")->required();
  command->add_option("-w,--weights", model.weights, "Weights file (default: beside the model)");
  command->add_option("-d,--device", model.devices, "Show what these devices would run, coloured by device");
  command->add_option("--input-shape", model.input_shapes, "NAME[1,3,224,224]")->allow_extra_args(false);
  command->add_option("--svg", all.show_model.svg_file, "Write a picture, laid out by Graphviz");
  command->add_option("--html", all.show_model.html_file, "Write a page with picture, memory over time and layers");
  add_json(command, all.show_model.is_json);
  set_result(command, all.show_model, result);
}

void add_query(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("query", "Show where each layer runs, and why not on the earlier devices");
  add_model(command, all.query.model, true);
  command->add_option("--dot", all.query.dot_file, "Write the subgraphs as Graphviz text");
  add_json(command, all.query.is_json);
  set_result(command, all.query, result);
}

void add_compile(CLI::App* command, CompileFlags& flags) {
  command->add_option("--nthreads", flags.threads, "Threads of the CPU device (default: all cores)")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--exact-nan", flags.exact_nan,
                    "Leave out kernels that spread a NaN or an infinity to neighbouring outputs");
  command->add_flag("--startup-fallback", flags.has_startup_fallback,
                    "Let the CPU answer while the device's kernels are compiled");
  command->add_flag("--pc", flags.is_profiling, "Print what each layer cost in the last run");
}

void add_run(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("run", "Run a model once on .npy files");
  add_model(command, all.run.model, true);
  command->add_option("-i,--input", all.run.inputs, "NAME=FILE.npy; one input needs no name")->allow_extra_args(false);
  command->add_option("-o,--output", all.run.output_folder, "Folder for the outputs, one .npy each");
  add_compile(command, all.run.compile);
  add_json(command, all.run.is_json);
  set_result(command, all.run, result);
}

void add_compare(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("compare", "Compare what two devices compute, tensor by tensor");
  CompareOptions& options = all.compare;
  add_model(command, options.model, true);
  auto* with = command->add_option("--with", options.reference, "Devices whose results are right");
  command->add_option("--against", options.against, "Folder of a stored run, one .npy for each tensor")->excludes(with);
  command->add_option("--save", options.save_folder, "Store the tensors of -d there, for --against");
  command->add_option("-i,--input", options.inputs, "NAME=FILE.npy; one input needs no name (default: random values)")
      ->allow_extra_args(false);
  command->add_option("--tolerance", options.tolerance, "Of max(1, the largest value) (default: 0.001)")
      ->check(CLI::Range(0.0, 1e30));
  command->add_option("--memory", options.memory_mb, "MiB of inner tensors held at a time (default: 1024)")
      ->check(CLI::Range(1, 1 << 20));
  add_json(command, options.is_json);
  command->callback([&options, &result] {
    const bool has_goal = !options.reference.empty() || !options.against.empty() || !options.save_folder.empty();
    if (!has_goal) throw CLI::RequiredError("--with DEVICES, --against DIR or --save DIR");
    result = options;
  });
}

void add_bench(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("bench", "Measure latency and throughput on random inputs");
  add_model(command, all.bench.model, true);
  auto* seconds = command->add_option("-t,--time", all.bench.seconds, "Seconds to measure (default: 5)")
                      ->check(CLI::Range(0.001, 86400.0));
  command->add_option("--niter", all.bench.iterations, "Runs to measure")
      ->check(CLI::Range(1, 100'000'000))
      ->excludes(seconds);
  command
      ->add_option("--nireq", all.bench.requests,
                   "Requests in flight (default: 1, or for throughput as many as run at once)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option_function<std::string>(
          "--hint", [&all](const std::string& hint) { all.bench.is_throughput = hint == "throughput"; },
          "latency (default), or throughput: several requests at once")
      ->check(CLI::IsMember({"latency", "throughput"}));
  command->add_option("--nstreams", all.bench.streams, "Requests that run at once (default: as the hint says)")
      ->check(CLI::Range(1, 1024));
  add_compile(command, all.bench.compile);
  command->add_flag("!--no-tuning", all.bench.is_tuned, "Leave tuning tables aside");
  add_json(command, all.bench.is_json);
  set_result(command, all.bench, result);
}

void add_tune(CLI::App& app, AllOptions& all, std::optional<Command>& result) {
  CLI::App* command = app.add_subcommand("tune", "Measure the forms of kernels, and keep the fastest for each shape");
  ModelOptions& model = all.tune.model;
  auto* file = command->add_option(
      "model", model.model,
      "IR (.xml), ONNX (.onnx), TensorFlow (.pb) or Caffe (.prototxt) file whose layers are measured");
  auto* weights = command->add_option("-w,--weights", model.weights, "Weights file (default: beside the model)");
  auto* shape = command->add_option("--input-shape", model.input_shapes, "NAME[1,3,224,224]")->allow_extra_args(false);
  auto* is_all = command->add_flag("--all", all.tune.is_all, "Measure a list of layers that networks in wide use have");
  is_all->excludes(file);
  weights->excludes(is_all);
  shape->excludes(is_all);
  command->add_option("-d,--device", model.devices, "One OpenCL device")->required();
  command->add_option("-o,--output", all.tune.table, "Table to write or go on with (default: the user's own)");
  command->add_flag("--again", all.tune.is_again, "Measure what the table has too");
  add_json(command, all.tune.is_json);
  command->callback([&all, &result] {
    if (all.tune.model.model.empty() && !all.tune.is_all) throw CLI::RequiredError("MODEL or --all");
    result = all.tune;
  });
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("Runs neural networks on the OpenCL devices that you own.", "headrace");
  app.require_subcommand(1);
  app.set_version_flag("--version", "headrace " HEADRACE_VERSION);
  AllOptions all;
  all.list.model.devices = "POCL";
  all.show_model.model.devices.clear();
  std::optional<Command> result;
  add_devices(app, all, result);
  add_program(app, all, result);
  add_bitstream(app, all, result);
  add_convert(app, all, result);
  add_quantize(app, all.quantize, result);
  add_show(app, all, result);
  add_query(app, all, result);
  add_run(app, all, result);
  add_compare(app, all, result);
  add_bench(app, all, result);
  add_tune(app, all, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, app.exit(error)};  // --help, --version
    fmt::print(stderr, "headrace: error: {} (headrace --help shows the usage)\n", one_line(error.what()));
    return {std::nullopt, kUsageExitCode};
  }
  return {std::move(result), 0};
}

}  // namespace headrace
