// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr where that is a terminal, else nothing.
#pragma once

#include <cstddef>
#include <string>

namespace headrace::samples {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` stands behind the bar. Draws at most ten times a second.
  void show(std::size_t done, const std::string& note);
  // Wipes the bar, so that a line can be printed; the next show draws it again.
  void hide();

 private:
  std::size_t total_;
  bool is_terminal_;
  bool is_drawn_ = false;
  double last_draw_s_ = -1.0;
};

}  // namespace headrace::samples
