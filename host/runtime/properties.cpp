// SPDX-License-Identifier: Apache-2.0
#include "runtime/properties.hpp"

#include <charconv>

namespace headrace {
namespace {

constexpr int kMaxThreads = 1024;

bool parse_switch(const std::string& key, const std::string& value) {
  if (value != "YES" && value != "NO") {
    fail(ErrorCode::kInvalidArgument, "property " + key + ": expected YES or NO, got '" + value + "'");
  }
  return value == "YES";
}

int parse_threads(const std::string& key, const std::string& value) {
  int threads = -1;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, threads);
  if (error != std::errc{} || stop != end || threads < 0 || threads > kMaxThreads) {
    fail(ErrorCode::kInvalidArgument,
         "property " + key + ": expected 0 (all cores) to " + std::to_string(kMaxThreads) + ", got '" + value + "'");
  }
  return threads;
}

}  // namespace

CompileOptions parse_properties(const Properties& properties) {
  CompileOptions options;
  for (const auto& [key, value] : properties) {
    if (key == "PERF_COUNT") {
      options.is_profiling = parse_switch(key, value);
    } else if (key == "INFERENCE_NUM_THREADS") {
      options.threads = parse_threads(key, value);
    } else if (key == "EXACT_NAN") {
      options.exact_nan = parse_switch(key, value);
    } else {
      fail(ErrorCode::kInvalidArgument,
           "unknown property '" + key + "'; known: PERF_COUNT, INFERENCE_NUM_THREADS, EXACT_NAN");
    }
  }
  return options;
}

}  // namespace headrace
