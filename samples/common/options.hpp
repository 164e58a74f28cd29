// SPDX-License-Identifier: Apache-2.0
// The options that the classification samples share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/picture.hpp"

namespace headrace::samples {

struct SampleOptions {
  std::string model;
  std::vector<std::string> pictures;  // files; folders are already expanded
  std::string device = "CPU";
  std::string labels;  // empty: class numbers only
  int top = 10;
  bool is_profiling = false;
  int requests = 2;  // async sample
  int repeats = 1;   // async sample: runs of each picture
  Preprocess preprocess;
};

struct SampleInfo {
  std::string name;
  std::string description;
  bool is_async = false;
};

// Reads the command line; -h and usage errors give an exit code instead (0 and 2). Defaults of --mean, --scale and
// --channels come from MODEL's .json (same stem) where it exists. Throws kBadModel where that file is damaged.
struct ParsedSample {
  std::optional<SampleOptions> options;
  int exit_code = 0;
};
ParsedSample parse_sample_options(int argc, const char* const* argv, const SampleInfo& info);

}  // namespace headrace::samples
