// SPDX-License-Identifier: Apache-2.0
#include "common/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace headrace::samples {
namespace {

constexpr std::size_t kWidth = 30;
constexpr double kRedrawSeconds = 0.1;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(std::size_t total)
    : total_(std::max<std::size_t>(total, 1)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { hide(); }

void Progress::show(std::size_t done, const std::string& note) {
  const double now = seconds_now();
  if (!is_terminal_ || now - last_draw_s_ < kRedrawSeconds) return;
  last_draw_s_ = now;
  is_drawn_ = true;
  const std::size_t filled = std::min(kWidth, done * kWidth / total_);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r\033[K[%s] %zu/%zu %s", bar.c_str(), done, total_, note.c_str());
}

void Progress::hide() {
  if (is_drawn_) std::fprintf(stderr, "\r\033[K");
  is_drawn_ = false;
}

}  // namespace headrace::samples
