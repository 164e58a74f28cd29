// SPDX-License-Identifier: Apache-2.0
#include "runtime/properties.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headrace {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxStreams = 1024;

bool parse_switch(std::string_view key, const std::string& value) {
  if (value != "YES" && value != "NO") {
    fail(ErrorCode::kInvalidArgument, "property " + std::string(key) + ": expected YES or NO, got '" + value + "'");
  }
  return value == "YES";
}

std::string switch_text(bool is_on) { return is_on ? "YES" : "NO"; }

// A whole number in a range; `expected` says in words what else is meant by it.
int parse_number(std::string_view key, const std::string& value, int min, int max, const std::string& expected) {
  int number = -1;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stop != end || number < min || number > max) {
    fail(ErrorCode::kInvalidArgument, "property " + std::string(key) + ": expected " + expected + " to " +
                                          std::to_string(max) + ", got '" + value + "'");
  }
  return number;
}

PerformanceHint parse_hint(std::string_view key, const std::string& value) {
  if (value == to_string(PerformanceHint::kLatency)) return PerformanceHint::kLatency;
  if (value == to_string(PerformanceHint::kThroughput)) return PerformanceHint::kThroughput;
  fail(ErrorCode::kInvalidArgument,
       "property " + std::string(key) + ": expected LATENCY or THROUGHPUT, got '" + value + "'");
}

struct Property {
  std::string_view key;
  void (*set)(CompileOptions& options, std::string_view key, const std::string& value);
  std::string (*get)(const CompileOptions& options);
};

constexpr std::array<Property, 7> kProperties = {{
    {"PERF_COUNT",
     [](CompileOptions& o, std::string_view key, const std::string& v) { o.is_profiling = parse_switch(key, v); },
     [](const CompileOptions& o) { return switch_text(o.is_profiling); }},
    {"INFERENCE_NUM_THREADS",
     [](CompileOptions& o, std::string_view key, const std::string& v) {
       o.threads = parse_number(key, v, 0, kMaxThreads, "0 (all cores)");
     },
     [](const CompileOptions& o) { return std::to_string(o.threads); }},
    {"EXACT_NAN",
     [](CompileOptions& o, std::string_view key, const std::string& v) { o.exact_nan = parse_switch(key, v); },
     [](const CompileOptions& o) { return switch_text(o.exact_nan); }},
    {"TUNING", [](CompileOptions& o, std::string_view key, const std::string& v) { o.is_tuned = parse_switch(key, v); },
     [](const CompileOptions& o) { return switch_text(o.is_tuned); }},
    {"PERFORMANCE_HINT",
     [](CompileOptions& o, std::string_view key, const std::string& v) { o.streams.hint = parse_hint(key, v); },
     [](const CompileOptions& o) { return std::string(to_string(o.streams.hint)); }},
    {"NUM_STREAMS",
     [](CompileOptions& o, std::string_view key, const std::string& v) {
       o.streams.count = v == "AUTO" ? 0 : parse_number(key, v, 1, kMaxStreams, "AUTO or 1");
     },
     [](const CompileOptions& o) { return o.streams.count == 0 ? "AUTO" : std::to_string(o.streams.count); }},
    {"ENABLE_STARTUP_FALLBACK",
     [](CompileOptions& o, std::string_view key, const std::string& v) {
       o.has_startup_fallback = parse_switch(key, v);
     },
     [](const CompileOptions& o) { return switch_text(o.has_startup_fallback); }},
}};

const Property* find_property(std::string_view key) {
  const auto* found =
      std::find_if(kProperties.begin(), kProperties.end(), [&](const Property& p) { return p.key == key; });
  return found == kProperties.end() ? nullptr : found;
}

}  // namespace

CompileOptions parse_properties(const Properties& properties) {
  CompileOptions options;
  for (const auto& [key, value] : properties) {
    const Property* property = find_property(key);
    check(property != nullptr, ErrorCode::kInvalidArgument,
          "unknown property '" + key + "'; known: " + property_names());
    property->set(options, key, value);
  }
  return options;
}

std::optional<std::string> property_text(const CompileOptions& options, std::string_view key) {
  const Property* property = find_property(key);
  return property == nullptr ? std::nullopt : std::optional(property->get(options));
}

std::string property_names() {
  std::string names;
  for (const Property& property : kProperties) names += (names.empty() ? "" : ", ") + std::string(property.key);
  return names;
}

}  // namespace headrace
