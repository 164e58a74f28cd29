// SPDX-License-Identifier: Apache-2.0
// The options of `headrace quantize`.
#pragma once

#include <optional>

#include "cli/options.hpp"

namespace CLI {
class App;
}

namespace headrace {

// Adds the subcommand; where it is chosen, `options` becomes the result. Both must outlive the parsing.
void add_quantize(CLI::App& app, QuantizeOptions& options, std::optional<Command>& result);

}  // namespace headrace
