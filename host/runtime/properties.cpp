// SPDX-License-Identifier: Apache-2.0
#include "runtime/properties.hpp"

namespace headrace {

CompileOptions parse_properties(const Properties& properties) {
  CompileOptions options;
  for (const auto& [key, value] : properties) {
    if (key != "PERF_COUNT") {
      fail(ErrorCode::kInvalidArgument, "unknown property '" + key + "'; known: PERF_COUNT");
    }
    if (value != "YES" && value != "NO") {
      fail(ErrorCode::kInvalidArgument, "property PERF_COUNT: expected YES or NO, got '" + value + "'");
    }
    options.is_profiling = value == "YES";
  }
  return options;
}

}  // namespace headrace
