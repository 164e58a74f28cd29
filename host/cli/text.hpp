// SPDX-License-Identifier: Apache-2.0
// Text for people: tables, one-line messages, a progress bar.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.hpp"

namespace headrace {

// Returns the message without line breaks and other control characters, so that it stays one line of a log.
std::string one_line(std::string_view message);

// Rows of cells, the first row being the head; columns are as wide as their widest cell.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Joins the texts with the separator between them.
std::string join(const std::vector<std::string>& texts, std::string_view separator);

// Shapes by input name from "data[1,3,224,224]" texts; "" stands for the only input. One text may hold several shapes
// with commas between. Throws kInvalidArgument naming the text.
std::map<std::string, Shape> parse_input_shapes(const std::vector<std::string>& texts);

// Returns the name with every character outside [A-Za-z0-9._-] replaced by '_'.
std::string file_stem_for(std::string_view tensor_name);

// A bar on stderr where that is a terminal, else nothing. Redraws at most ten times a second.
class ProgressBar {
 public:
  explicit ProgressBar(std::string_view title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `fraction` is between 0 and 1; `what` names the piece of work in progress.
  void show(double fraction, std::string_view what);

 private:
  std::string title_;
  bool is_terminal_ = false;
  bool is_drawn_ = false;
  double last_draw_s_ = -1.0;
};

}  // namespace headrace
