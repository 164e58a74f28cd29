// SPDX-License-Identifier: Apache-2.0
// The options of pre-processing that every sample for pictures has.
#pragma once

#include <string>
#include <vector>

#include "common/picture.hpp"

namespace CLI {
class App;
}

namespace headrace::samples {

// As the command line has them; empty: not given.
struct PreprocessTexts {
  std::string file;
  std::vector<double> mean, scale;
  std::string channels;
};

void add_preprocess_options(CLI::App& app, PreprocessTexts& texts);

// The command line wins over the file, which is MODEL's .json (same stem) where none is named and that exists.
// Throws kBadModel where the file is damaged, kInvalidArgument for numbers that are none.
Preprocess resolve_preprocess(const PreprocessTexts& texts, const std::string& model);

// The arguments as CLI11's parse of a vector wants them. OpenVINO's samples write long names with one dash ("-nt"),
// which CLI11 would read as -n -t: these names work with one dash and with two.
std::vector<std::string> with_two_dashes(int argc, const char* const* argv, const std::vector<std::string>& names);

}  // namespace headrace::samples
