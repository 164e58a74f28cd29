// SPDX-License-Identifier: Apache-2.0
// Reports that run and bench share.
#pragma once

#include <string>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace {

// The rows of -pc as the text of a JSON array.
std::string profile_json(const std::vector<LayerProfile>& rows);

}  // namespace headrace
