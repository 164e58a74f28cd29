// SPDX-License-Identifier: Apache-2.0
#include "core/error.hpp"

#include <string>

namespace headrace {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "InvalidArgument";
    case ErrorCode::kBadModel: return "BadModel";
    case ErrorCode::kUnsupported: return "Unsupported";
    case ErrorCode::kDevice: return "Device";
    case ErrorCode::kBuild: return "Build";
    case ErrorCode::kOutOfMemory: return "OutOfMemory";
    case ErrorCode::kIo: return "Io";
    case ErrorCode::kBusy: return "Busy";
    case ErrorCode::kCancelled: return "Cancelled";
    case ErrorCode::kInternal: return "Internal";
  }
  return "Unknown";
}

void fail(ErrorCode code, const std::string& message, const char* file, int line) {
  throw Error(code, message, file, line);
}

void check(bool condition, ErrorCode code, std::string_view message, const char* file, int line) {
  if (!condition) fail(code, std::string(message), file, line);
}

void rethrow_with_prefix(const Error& error, std::string_view prefix) {
  throw Error(error.code(), std::string(prefix) + ": " + error.what(), error.file(), error.line());
}

namespace detail {
void assert_failed(const char* condition, const char* why, const char* file, int line) {
  throw Error(
      ErrorCode::kInternal,
      std::string("internal error: ") + why + " (" + condition + " at " + file + ":" + std::to_string(line) + ")", file,
      line);
}
}  // namespace detail

}  // namespace headrace
