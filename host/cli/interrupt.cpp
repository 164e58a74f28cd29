// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <csignal>

namespace headrace {
namespace {

volatile std::sig_atomic_t was_signalled = 0;

}  // namespace

void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { was_signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() { return was_signalled != 0; }

}  // namespace headrace
