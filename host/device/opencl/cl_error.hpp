// SPDX-License-Identifier: Apache-2.0
// OpenCL error codes as names and as exceptions.
#pragma once

#include <CL/cl.h>

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace headrace {

// Returns the symbolic name ("CL_INVALID_BINARY"), or "OpenCL error -9999" for a code that OpenCL 1.2 does not have.
std::string cl_code_name(cl_int code);

// Throws kOutOfMemory, kBuild or kDevice, by code: "WHAT: CL_OUT_OF_RESOURCES (-5)".
[[noreturn]] void fail_cl(cl_int code, std::string_view what, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE());

// Throws like fail_cl where the code is not CL_SUCCESS.
inline void check_cl(cl_int code, std::string_view what, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE()) {
  if (code != CL_SUCCESS) fail_cl(code, what, file, line);
}

}  // namespace headrace
