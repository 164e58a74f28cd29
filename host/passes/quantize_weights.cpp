// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize_weights.hpp"

#include <algorithm>
#include <cmath>

#include "passes/channel_factors.hpp"
#include "passes/make_node.hpp"

namespace headrace {
namespace {

constexpr double kHighestLevel = 127;  // 255 levels, zero in the middle: no zero point

// Calls visit(element, channel) for all elements.
template <typename Visit>
void for_each_element(const Shape& shape, const std::vector<std::size_t>& axes, Visit visit) {
  const auto strides = row_major_strides(shape);
  const std::int64_t count = count_elems(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t channel = 0;
    for (const std::size_t axis : axes) channel = channel * shape[axis] + i / strides[axis] % shape[axis];
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(channel));
  }
}

}  // namespace

SymmetricWeights quantize_symmetric(const Tensor& weights, const std::vector<std::size_t>& axes) {
  const Tensor source = weights.aligned_copy();
  const auto from = source.values<float>();
  Shape scale_shape(weights.shape().size(), 1);
  for (const std::size_t axis : axes) scale_shape.at(axis) = weights.shape().at(axis);
  SymmetricWeights result{Tensor(ElementType::i8, weights.shape()), Tensor(ElementType::f32, scale_shape)};
  const auto scales = result.scales.mutable_values<float>();
  for_each_element(weights.shape(), axes, [&](std::size_t i, std::size_t channel) {
    scales[channel] = std::max(scales[channel], std::fabs(from[i]));
  });
  for (float& scale : scales) {
    scale = static_cast<float>(static_cast<double>(scale) / kHighestLevel);
    if (!std::isnormal(scale)) scale = 1.0F;  // all zero, or so small that the scale would lose digits
  }
  const auto to = result.values.mutable_values<std::int8_t>();
  for_each_element(weights.shape(), axes, [&](std::size_t i, std::size_t channel) {
    const double level = std::nearbyint(static_cast<double>(from[i]) / static_cast<double>(scales[channel]));
    to[i] = static_cast<std::int8_t>(std::clamp(level, -kHighestLevel, kHighestLevel));
  });
  return result;
}

PortRef WeightsQuantizer::quantize(NodeId layer) {
  const Graph& graph = rewriter_.graph();
  const PortRef source = graph.at(layer).inputs.at(1);
  const auto axes = output_channel_axes(graph, graph.at(layer));
  const auto [entry, is_new] = made_.try_emplace({source, axes});
  if (!is_new) return entry->second;
  const SymmetricWeights weights = quantize_symmetric(graph.at(source).value, axes);
  const std::string name = graph.at(layer).name + "/fq_weights";
  const PortRef bytes = rewriter_.add_const(name + "/i8", weights.values);
  const PortRef wide = add_op(rewriter_, "Convert", name + "/f32", {bytes}, {{"destination_type", "f32"}});
  const PortRef scales = rewriter_.add_const(name + "/scale", weights.scales);
  return entry->second = add_op(rewriter_, "Multiply", name, {wide, scales});
}

}  // namespace headrace
