// SPDX-License-Identifier: Apache-2.0
// One log for the whole library: a level, a component, a line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headrace {

enum class LogLevel { kError, kWarn, kInfo, kDebug, kTrace };

using LogSink = std::function<void(LogLevel, std::string_view component, std::string_view line)>;

// Reads HEADRACE_LOG=LEVEL[,component...] (called once, by main). Without it warnings and errors go to stderr.
void configure_log_from_environment();

// Replaces the sink (default: "headrace: warning: ..." on stderr). Call before other threads log.
void set_log_sink(LogSink sink);

bool is_log_enabled(LogLevel level, std::string_view component);

// Writes one line. Thread-safe, never throws.
void log(LogLevel level, std::string_view component, const std::string& line) noexcept;

}  // namespace headrace
