// SPDX-License-Identifier: Apache-2.0
// The one exception type of Headrace and the helpers that throw it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace headrace {

enum class ErrorCode {
  kInvalidArgument,  // the caller asked for something that makes no sense
  kBadModel,         // a model, weights, picture, bitstream or other input file is damaged
  kUnsupported,      // valid, but not offered by Headrace or by the chosen device
  kDevice,           // an OpenCL call failed
  kBuild,            // a kernel program did not compile
  kOutOfMemory,      // the host or a device has too little memory
  kIo,               // a file could not be read or written
  kBusy,             // the request is running in another thread
  kCancelled,        // the request was cancelled
  kInternal,         // a bug of ours
};

// Returns the enumerator's name without the k ("BadModel").
std::string_view to_string(ErrorCode code);

// An operation could not be done as asked. The message is one line: who, what, expected, got.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : std::runtime_error(message), code_(code), file_(file), line_(line) {}

  ErrorCode code() const { return code_; }
  const char* file() const { return file_; }
  int line() const { return line_; }

 private:
  ErrorCode code_;
  const char* file_;
  int line_;
};

// Throws Error(code, message).
[[noreturn]] void fail(ErrorCode code, const std::string& message, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE());

// Throws Error(code, message) when the condition does not hold. For other people's input: always on. The message
// is built by the caller even when the condition holds, so loops over large data use if (...) fail(...).
void check(bool condition, ErrorCode code, std::string_view message, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

// Throws the error again with "prefix: " before its message and the same code.
[[noreturn]] void rethrow_with_prefix(const Error& error, std::string_view prefix);

namespace detail {
[[noreturn]] void assert_failed(const char* condition, const char* why, const char* file, int line);
}

}  // namespace headrace

// For our own bugs; throws kInternal. On in every build: each use is cheap.
#define HEADRACE_ASSERT(condition, why) \
  ((condition) ? void() : ::headrace::detail::assert_failed(#condition, why, __FILE__, __LINE__))
