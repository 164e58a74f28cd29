// SPDX-License-Identifier: Apache-2.0
// What the user asked for on the command line, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

// A network and what it shall run on.
struct ModelOptions {
  std::string model;
  std::string weights;  // empty: beside the model
  std::string devices = "CPU";
  std::vector<std::string> input_shapes;  // NAME[1,3,224,224] or [1,3,224,224]
  std::string dump;                       // "after:PASS": print the graph there and stop
};

// How it shall run there.
struct CompileFlags {
  int threads = 0;  // of the CPU device, 0: all cores
  bool exact_nan = false;
  bool has_startup_fallback = false;
  bool is_profiling = false;
};

struct DevicesOptions {
  bool is_json = false;
};

struct ProgramOptions {
  std::string device;
  std::string file;
  bool is_erase = false;
  bool is_json = false;
};

struct BitstreamBuildOptions {
  std::string recipe;
  std::string device;
  std::string output;
  bool is_json = false;
};

struct BitstreamShowOptions {
  std::string file;
  bool is_json = false;
};

struct BitstreamListOptions {
  std::string folder = "bitstreams";
  ModelOptions model;  // model.model empty: list all
  bool is_json = false;
};

// What is baked into a network in front of its inputs.
struct PreparationOptions {
  std::vector<std::string> input_shapes;  // NAME[1,3,224,224], dimensions may be ?
  std::vector<std::string> means;         // R,G,B or NAME[R,G,B]
  std::vector<std::string> scales;        // the same
  std::vector<std::string> layouts;       // NAME(nhwc), NAME(nhwc->nchw), or without the name
  bool is_reversed = false;
};

struct ConvertOptions {
  std::string model;
  std::string weights;  // empty: beside the model
  std::string output;
  std::string report;  // .html or .json; empty: none
  std::vector<std::string> outputs;
  std::optional<std::int64_t> batch;
  PreparationOptions preparation;
  bool compresses = false;
  bool is_json = false;
};

struct QuantizeOptions {
  std::string model;
  std::string weights;  // empty: beside the model
  std::string output;
  std::vector<std::string> data;  // PATH or NAME=PATH
  std::string preset = "mixed";
  std::string method = "minmax";
  double percentile = 99.99;
  int subset = 300;
  std::vector<std::string> ignored_layers;
  std::vector<std::string> ignored_types;
  std::string devices = "CPU";
  bool corrects_bias = true;
  bool is_checked = false;  // --accuracy-check
  double max_drop = 0.01;
  std::string labels;      // a file with one class number per sample; empty: none
  std::string preprocess;  // JSON for pictures; empty: MODEL's .json where nothing is baked in
  PreparationOptions preparation;
  bool is_json = false;
};

struct ShowOptions {
  ModelOptions model;    // model.devices empty: the file's own layers
  std::string svg_file;  // empty: none
  std::string html_file;
  bool is_json = false;
};

struct QueryOptions {
  ModelOptions model;
  std::string dot_file;
  bool is_json = false;
};

struct RunOptions {
  ModelOptions model;
  std::vector<std::string> inputs;  // NAME=FILE.npy or FILE.npy
  std::string output_folder;
  CompileFlags compile;
  bool is_json = false;
};

struct CompareOptions {
  ModelOptions model;
  std::string reference;  // devices to compare with
  std::string against;    // or the folder of a stored run
  std::string save_folder;
  std::vector<std::string> inputs;  // as for run; none: random
  double tolerance = 1e-3;          // of max(1, the largest expected value)
  int memory_mb = 1024;             // of inner tensors that are held at a time, on each side
  bool is_json = false;
};

struct BenchOptions {
  ModelOptions model;
  double seconds = 5.0;
  std::optional<int> iterations;
  int requests = 0;  // 0: as the hint says
  bool is_throughput = false;
  int streams = 0;       // 0: as the hint says
  bool is_tuned = true;  // whether tuning tables count
  CompileFlags compile;
  bool is_json = false;
};

struct TuneOptions {
  ModelOptions model;
  bool is_all = false;  // instead of a model, layers that networks in wide use have
  std::string table;    // empty: the user's own
  bool is_again = false;
  bool is_json = false;
};

using Command = std::variant<DevicesOptions, ProgramOptions, BitstreamBuildOptions, BitstreamShowOptions,
                             BitstreamListOptions, ConvertOptions, QuantizeOptions, ShowOptions, QueryOptions,
                             RunOptions, CompareOptions, BenchOptions, TuneOptions>;

// Either a command to run, or the exit code of a program that has nothing to run: 0 after --help, 2 after a usage
// error, which has been reported on stderr.
struct ParsedOptions {
  std::optional<Command> command;
  int exit_code = 0;
};

ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace headrace
