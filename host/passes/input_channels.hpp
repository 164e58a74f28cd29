// SPDX-License-Identifier: Apache-2.0
// Which input, and which of its axes, pre-processing speaks of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/rewriter.hpp"

namespace headrace {

// One number for each channel of an input, or one for all of them.
struct ChannelNumbers {
  std::string input;  // "": the only input that has so many channels
  std::vector<double> values;
};

// Finds a Parameter by tensor name or layer name ("x" finds "x:0" too); "" names the only one.
// Throws kInvalidArgument listing the inputs; `option` ("--mean") begins the message.
NodeId find_parameter(const Graph& graph, std::string_view name, std::string_view option);

// Whether an input answers to the name, "" included.
bool is_input_name(const Graph& graph, std::string_view name);

// The letters of an input's layout as the user or the file gave them, lower case ("nhwc"), or "".
std::string layout_of(const Node& parameter);

// The axis that runs over the channels: where the layout has its c, else, for rank 4, the one of axis 1 and the last
// axis that has `channels` (0: 1 or 3) elements. Nothing where there is none or both have.
std::optional<std::size_t> find_channel_axis(const Node& parameter, std::int64_t channels);

// The same; throws kInvalidArgument naming the input, its shape and what to do.
std::size_t channel_axis(const Graph& graph, NodeId parameter, std::int64_t channels, std::string_view option);

// The input that the numbers are for: by name, or the only one with as many channels.
NodeId find_numbers_input(const Graph& graph, const ChannelNumbers& numbers, std::string_view option);

// Adds a node whose output has the element type and a shape that infer_shapes finds later.
PortRef add_unresolved_op(Rewriter& rewriter, std::string_view type, const std::string& name,
                          std::vector<PortRef> inputs, ElementType element_type, std::int32_t opset = 1);

// Everything that read the Parameter reads `last` instead, which computes from the Parameter what they expect.
void insert_behind(Rewriter& rewriter, NodeId parameter, const std::vector<Graph::User>& readers, PortRef last);

// A name for a new node behind the Parameter that no other node has: "data/mean", "data/mean_2".
std::string new_name(const Graph& graph, NodeId parameter, std::string_view suffix);

}  // namespace headrace
