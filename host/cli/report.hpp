// SPDX-License-Identifier: Apache-2.0
// Reports that run and bench share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "headrace/headrace.hpp"

namespace headrace {

// The rows of -pc as the text of a JSON array; "of_peak" where the devices' peaks are given and the layer has a share.
std::string profile_json(const std::vector<LayerProfile>& rows, const std::map<std::string, double>& peaks = {});

}  // namespace headrace
