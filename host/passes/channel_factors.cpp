// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_factors.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

// A channel is indexed by one axis of the weights, or by the group's and one more, outermost first.
std::optional<Tensor> scaled(const Graph& graph, const Node& node, const std::vector<std::size_t>& axes,
                             const std::vector<double>& factors) {
  const Tensor* weights = const_f32(graph, node.inputs.at(1));
  if (weights == nullptr) return std::nullopt;
  const Shape& shape = weights->shape();
  std::int64_t channels = 1;
  for (const std::size_t axis : axes) channels *= shape.at(axis);
  if (channels != static_cast<std::int64_t>(factors.size())) return std::nullopt;
  const auto strides = row_major_strides(shape);
  const auto source = weights->values<float>();
  Tensor result(ElementType::f32, shape);
  const auto values = result.mutable_values<float>();
  // Elements of one channel follow each other: the question which one it is is asked once for them.
  const auto run = static_cast<std::size_t>(std::max<std::int64_t>(strides[axes.back()], 1));
  const auto scale_run = [&](std::size_t begin) {
    std::int64_t channel = 0;
    for (const std::size_t axis : axes) {
      channel = channel * shape[axis] + static_cast<std::int64_t>(begin) / strides[axis] % shape[axis];
    }
    const double factor = factors[static_cast<std::size_t>(channel)];
    for (std::size_t i = begin; i < begin + run; ++i) {
      values[i] = static_cast<float>(static_cast<double>(source[i]) * factor);
    }
  };
  constexpr std::size_t kPartElems = std::size_t{1} << 18;  // worth a thread
  const std::size_t part = (kPartElems + run - 1) / run * run;
  parallel_for((values.size() + part - 1) / part, [&](std::size_t index) {
    const std::size_t end = std::min(values.size(), (index + 1) * part);
    for (std::size_t begin = index * part; begin < end; begin += run) scale_run(begin);
  });
  return result;
}

}  // namespace

bool is_convolution(const Node& node) {
  return node.type == "Convolution" || node.type == "GroupConvolution" || node.type == "ConvolutionBackpropData" ||
         node.type == "GroupConvolutionBackpropData";
}

bool is_weighted(const Graph& graph, const Node& node) {
  if (is_convolution(node)) return true;
  return node.type == "MatMul" && graph.info(node.inputs.at(0)).shape.size() >= 2 &&
         graph.info(node.inputs.at(1)).shape.size() >= 2;
}

std::int64_t bias_axis_of(const Node& node) {
  return is_convolution(node) ? 1 : static_cast<std::int64_t>(node.outputs.at(0).shape.size()) - 1;
}

std::optional<std::vector<double>> channel_values(const Tensor& constant, const Shape& shape, std::int64_t axis) {
  const Shape& own = constant.shape();
  if (own.size() > shape.size() || axis < 0) return std::nullopt;
  const std::size_t shift = shape.size() - own.size();
  const auto along = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool is_channel = i + shift == along && own[i] == shape[along];
    if (own[i] != 1 && !is_channel) return std::nullopt;
  }
  std::vector<double> values = to_doubles(constant);
  if (values.size() == 1) values.assign(static_cast<std::size_t>(shape.at(along)), values.front());
  if (static_cast<std::int64_t>(values.size()) != shape.at(along)) return std::nullopt;
  return values;
}

std::vector<std::size_t> output_channel_axes(const Graph& graph, const Node& node) {
  if (node.type == "Convolution") return {0};
  if (node.type == "GroupConvolution") return {0, 1};
  if (node.type == "ConvolutionBackpropData") return {1};
  if (node.type == "GroupConvolutionBackpropData") return {0, 2};
  if (node.type != "MatMul") return {};
  const std::size_t rank = graph.info(node.inputs.at(1)).shape.size();
  const std::size_t from_end = node.attributes.get_bool("transpose_b") ? 2 : 1;
  return rank < 2 ? std::vector<std::size_t>{} : std::vector<std::size_t>{rank - from_end};
}

std::optional<Tensor> scale_output_channels(const Graph& graph, const Node& node, const std::vector<double>& factors) {
  const std::vector<std::size_t> axes = output_channel_axes(graph, node);
  return axes.empty() ? std::nullopt : scaled(graph, node, axes, factors);
}

std::optional<Tensor> scale_input_channels(const Graph& graph, const Node& node, const std::vector<double>& factors) {
  if (node.type == "Convolution") return scaled(graph, node, {1}, factors);
  if (node.type == "GroupConvolution") return scaled(graph, node, {0, 2}, factors);
  if (node.type == "ConvolutionBackpropData") return scaled(graph, node, {0}, factors);
  if (node.type == "GroupConvolutionBackpropData") return scaled(graph, node, {0, 1}, factors);
  return std::nullopt;
}

}  // namespace headrace
