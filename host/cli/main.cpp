// SPDX-License-Identifier: Apache-2.0
// The command `headrace`: exit code 0 done, 1 failed (one line on stderr), 2 wrong usage.
#include <cstdio>
#include <exception>
#include <string>

#include "cli/commands.hpp"
#include "cli/text.hpp"
#include "core/log.hpp"

int main(int argc, char** argv) {
  try {
    headrace::configure_log_from_environment();
    const headrace::ParsedOptions parsed = headrace::parse_options(argc, argv);
    if (!parsed.command) return parsed.exit_code;
    const int code = std::visit([](const auto& options) { return headrace::run_command(options); }, *parsed.command);
    // A full disk or a closed pipe behind stdout must not pass for success.
    if (std::fflush(stdout) != 0) throw headrace::Error(headrace::ErrorCode::kIo, "cannot write to stdout");
    return code;
  } catch (const std::exception& error) {
    const std::string line = headrace::one_line(error.what());
    std::fprintf(stderr, "headrace: error: %s\n", line.c_str());
    return 1;
  }
}
