// SPDX-License-Identifier: Apache-2.0
// The command line of validation_app.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/picture.hpp"

namespace headrace::samples {

struct ValidationOptions {
  std::string model;
  std::string input;  // see data_set.hpp; for detection a folder of pictures
  std::string device = "CPU";
  std::string labels;
  std::string idx_labels;
  std::string annotations;  // folder; empty: beside the pictures
  bool is_detection = false;
  bool has_background = false;  // class 0 is none of the labels
  std::int64_t limit = 0;       // pictures; 0: all
  Preprocess preprocess;
};

struct ParsedValidation {
  std::optional<ValidationOptions> options;
  int exit_code = 0;  // of a program that has nothing to do: 0 after -h, 2 after wrong usage
};

ParsedValidation parse_validation_options(int argc, const char* const* argv);

}  // namespace headrace::samples
