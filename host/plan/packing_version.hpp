// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headrace {

// The SHA-256 of the sources that pack weights (host/ops and host/core), taken by the build: packed
// weights that another build has kept are not this one's.
std::string_view packing_version();

}  // namespace headrace
