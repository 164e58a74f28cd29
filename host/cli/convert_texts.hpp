// SPDX-License-Identifier: Apache-2.0
// The texts that `headrace convert` and `quantize` take for shapes, numbers and layouts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "headrace/headrace.hpp"

namespace headrace {

// As parse_input_shapes, but dimensions may be open: "data[?,3,224,224]", "[1..8,3,...]".
std::map<std::string, PartialShape> parse_open_shapes(const std::vector<std::string>& texts);

// "123.675,116.28,103.53", "[...]" or "NAME[...]". Throws kInvalidArgument; `option` begins the message.
ConversionOptions::ChannelValues parse_channel_values(const std::string& text, std::string_view option);

// "NAME(nhwc)", "NAME(nhwc->nchw)", or without the name and brackets for the only input; several with commas between.
std::vector<ConversionOptions::Layout> parse_layouts(const std::string& text);

// All of these texts at once. Throws what they throw.
ConversionOptions preparation_of(const PreparationOptions& options);

}  // namespace headrace
