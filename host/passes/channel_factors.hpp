// SPDX-License-Identifier: Apache-2.0
// Per-channel constants and the weights that they are folded into.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace headrace {

// Convolution, GroupConvolution and their transposed forms.
bool is_convolution(const Node& node);
// A convolution, or a MatMul of matrices (rank 2 or more on both sides).
bool is_weighted(const Graph& graph, const Node& node);
// Channels of the node's output, along the axis that a bias runs along: 1 for convolutions, the last one for MatMul.
std::int64_t bias_axis_of(const Node& node);

// One value per index along `axis` of `shape`, where the constant, broadcast to the shape by the numpy rule, varies
// along that axis only and does not change the shape.
std::optional<std::vector<double>> channel_values(const Tensor& constant, const Shape& shape, std::int64_t axis);

// The axes of the weights (input 1) that together number the output channels, outermost first; nothing for other nodes
// and for weights that are a vector.
std::vector<std::size_t> output_channel_axes(const Graph& graph, const Node& node);

// The node's weights (input 1) with every output or input channel multiplied by its factor; nothing where the weights
// are no f32 constant or the factors don't fit.
std::optional<Tensor> scale_output_channels(const Graph& graph, const Node& node, const std::vector<double>& factors);
std::optional<Tensor> scale_input_channels(const Graph& graph, const Node& node, const std::vector<double>& factors);

}  // namespace headrace
