// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/input_channels.hpp"

namespace headrace {

// A Subtract of one number per channel stands behind the input; the network then takes pictures as they are.
// Returns the input's name. Throws kInvalidArgument where the numbers are not finite, don't fit the input, or its
// element type is none for fractions.
std::string subtract_mean(Graph& graph, const ChannelNumbers& mean);

// The same with a Divide, and zero is refused. As each stands directly behind the input, divide_scale runs before
// subtract_mean, and that before reverse_channels, to have (reversed(x) - mean) / scale.
std::string divide_scale(Graph& graph, const ChannelNumbers& scale);

}  // namespace headrace
