// SPDX-License-Identifier: Apache-2.0
// Ctrl-C in commands whose work can be gone on with.
#pragma once

namespace headrace {

// From now on the first SIGINT or SIGTERM only makes is_interrupted() true, so that the work ends behind its present
// step; the second one ends the process at once.
void stop_on_interrupt();
bool is_interrupted();

}  // namespace headrace
