// SPDX-License-Identifier: Apache-2.0
// The layout of drawings by Graphviz' program `dot`.
#pragma once

#include <string>

namespace headrace {

// Has `dot`, found in PATH, make an SVG of the text. A program of its own, since Graphviz' library keeps global state,
// ends the process on some errors, and would bring X11 and Pango into every start of ours; a drawing that takes too
// long can be given up this way. Throws kUnsupported where `dot` is not installed, kIo where it fails or takes more
// than `limit_seconds`.
std::string run_dot(const std::string& text, int limit_seconds = 300);

}  // namespace headrace
