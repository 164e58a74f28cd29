// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace headrace {
namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"error", "warn", "info", "debug", "trace"};

void write_to_stderr(LogLevel level, std::string_view component, std::string_view line) {
  const std::string text(line);
  if (level == LogLevel::kWarn) {
    std::fprintf(stderr, "headrace: warning: %s\n", text.c_str());
  } else {
    std::fprintf(stderr, "headrace1,%s,%.*s,%s\n", kLevelNames[static_cast<std::size_t>(level)].data(),
                 static_cast<int>(component.size()), component.data(), text.c_str());
  }
}

// The log's settings: the one piece of process-wide state, because a log line may come from anywhere.
struct LogState {
  std::mutex mutex;
  LogLevel level = LogLevel::kWarn;
  std::vector<std::string> components;  // empty: all
  LogSink sink = write_to_stderr;
};

LogState& state() {
  static LogState instance;
  return instance;
}

}  // namespace

void configure_log_from_environment() {
  const char* text = std::getenv("HEADRACE_LOG");
  if (text == nullptr || *text == '\0') return;
  LogState& log_state = state();
  std::string_view rest(text);
  bool is_first = true;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    if (is_first) {
      const auto found = std::find(kLevelNames.begin(), kLevelNames.end(), word);
      if (found == kLevelNames.end()) {
        log(LogLevel::kWarn, "log",
            "HEADRACE_LOG: unknown level '" + std::string(word) + "' (use error, warn, info, debug or trace)");
        return;
      }
      log_state.level = static_cast<LogLevel>(found - kLevelNames.begin());
      is_first = false;
    } else if (!word.empty()) {
      log_state.components.emplace_back(word);
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

void set_log_sink(LogSink sink) {
  const std::scoped_lock lock(state().mutex);
  state().sink = std::move(sink);
}

bool is_log_enabled(LogLevel level, std::string_view component) {
  const LogState& log_state = state();
  if (level <= LogLevel::kWarn) return true;
  if (level > log_state.level) return false;
  const auto& wanted = log_state.components;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), component) != wanted.end();
}

void log(LogLevel level, std::string_view component, const std::string& line) noexcept {
  try {
    if (!is_log_enabled(level, component)) return;
    LogState& log_state = state();
    const std::scoped_lock lock(log_state.mutex);
    log_state.sink(level, component, line);
  } catch (...) {  // a failing sink must not take the program down
    std::fputs("headrace: warning: the log sink failed\n", stderr);
  }
}

}  // namespace headrace
