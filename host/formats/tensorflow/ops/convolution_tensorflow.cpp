// SPDX-License-Identifier: Apache-2.0
// Convolutions: plain, by channel, transposed.
#include <algorithm>

#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

void check_weights(const TensorflowContext& c, PortRef weights, std::size_t spatial) {
  if (c.rank(weights) == spatial + 2) return;
  fail(ErrorCode::kBadModel,
       "its filter has rank " + std::to_string(c.rank(weights)) + ", expected " + std::to_string(spatial + 2));
}

// The filter [spatial..., a, b] as [b, a, spatial...].
PortRef filter_of(TensorflowContext& c, std::size_t spatial) {
  const auto axes = static_cast<std::int64_t>(spatial);
  Ints order = {axes + 1, axes};
  for (const std::int64_t axis : iota(0, axes)) order.push_back(axis);
  return permuted(c, c.input(1), order);
}

RawAttributes conv_window(const TensorflowContext& c, std::size_t spatial) {
  return window_of(c, spatial_entries(c, "strides", c.attr_ints("strides"), spatial),
                   spatial_entries(c, "dilations", c.attr_ints("dilations"), spatial));
}

// Filters are [spatial..., IC, OC]; an input of G x IC channels makes G groups.
TensorflowValues convert_conv(TensorflowContext& c) {
  const std::size_t spatial = c.node().op == "Conv3D" ? 3 : 2;
  check_weights(c, c.input(1), spatial);
  const PortRef x = to_channels_first(c, c.input(0), spatial);
  PortRef weights = filter_of(c, spatial);  // [OC, IC, spatial...]
  const auto channels = c.static_dim(x, 1);
  const auto own = c.static_dim(weights, 1);
  const std::int64_t groups = channels && own && *own > 0 && *channels % *own == 0 ? *channels / *own : 1;
  if (groups <= 1) {
    return {from_channels_first(c, c.add("Convolution", 1, {x, weights}, conv_window(c, spatial)), spatial)};
  }
  Shape shape = c.shape(weights);
  if (shape[0] % groups != 0) {
    fail(ErrorCode::kBadModel,
         "a filter of shape " + to_string(shape) + " does not divide into " + text(groups) + " groups");
  }
  shape[0] /= groups;
  shape.insert(shape.begin(), groups);
  weights = reshaped(c, weights, shape);
  return {from_channels_first(c, c.add("GroupConvolution", 1, {x, weights}, conv_window(c, spatial)), spatial)};
}

// The filter [KH, KW, C, M] gives M outputs for each channel.
TensorflowValues convert_depthwise(TensorflowContext& c) {
  check_weights(c, c.input(1), 2);
  const PortRef x = to_channels_first(c, c.input(0), 2);
  const Shape shape = c.shape(c.input(1));
  PortRef weights = permuted(c, c.input(1), {2, 3, 0, 1});
  weights = reshaped(c, weights, {shape[2], shape[3], 1, shape[0], shape[1]});
  return {from_channels_first(c, c.add("GroupConvolution", 1, {x, weights}, conv_window(c, 2)), 2)};
}

// Pads of the transposed convolution that gives `wanted`: those of the convolution from there to here.
void set_pads(const TensorflowContext& c, RawAttributes& window, const Ints& wanted, const Ints& from,
              const Shape& kernel, const Ints& strides, const Ints& dilations) {
  const std::string padding = c.attr_string("padding", "VALID");
  if (padding == "EXPLICIT") c.refuse("padding EXPLICIT");
  Ints begins, ends, output_padding;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t full = (from[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1;
    const std::int64_t cut = padding == "SAME" ? std::max<std::int64_t>(full - wanted[i], 0) : 0;
    const std::int64_t more = wanted[i] - full + cut;
    if (more < 0 || more >= std::max(strides[i], dilations[i])) {
      fail(ErrorCode::kBadModel, "a size of " + text(wanted[i]) + " does not come from " + text(from[i]));
    }
    begins.push_back(cut / 2);
    ends.push_back(cut - cut / 2);
    output_padding.push_back(more);
  }
  window["pads_begin"] = text(begins);
  window["pads_end"] = text(ends);
  window["output_padding"] = text(output_padding);
  window["auto_pad"] = "explicit";
}

// Inputs: the sizes of the result, the filter [spatial..., OC, IC], x.
TensorflowValues convert_backprop(TensorflowContext& c) {
  const std::size_t spatial = c.node().op == "Conv2DBackpropInput" ? 2 : 3;
  check_weights(c, c.input(1), spatial);
  const PortRef x = to_channels_first(c, c.input(2), spatial);
  const auto axes = static_cast<std::int64_t>(spatial);
  const PortRef weights = filter_of(c, spatial);  // [IC, OC, spatial...]
  const Shape shape = c.shape(weights);
  if (const auto channels = c.static_dim(x, 1); channels && *channels != shape[0]) c.refuse("groups");
  const Ints strides = spatial_entries(c, "strides", c.attr_ints("strides"), spatial);
  const Ints dilations = spatial_entries(c, "dilations", c.attr_ints("dilations"), spatial);
  RawAttributes window = window_of(c, strides, dilations);
  PortRef sizes = c.convert(c.input(0), ElementType::i64);
  const std::int64_t first = !has_channels_last(c) ? 2 : 1;
  // Sizes may also leave out batch and channels.
  if (c.static_dim(sizes, 0) != axes) sizes = c.slice(sizes, first, first + axes, 0);
  const auto wanted = c.ints(sizes);
  Ints from;
  for (std::size_t i = 0; i < spatial; ++i) from.push_back(c.static_dim(x, i + 2).value_or(-1));
  if (wanted && wanted->size() == spatial && std::count(from.begin(), from.end(), -1) == 0) {
    set_pads(c, window, *wanted, from, {shape.begin() + 2, shape.end()}, strides, dilations);
    return {from_channels_first(c, c.add("ConvolutionBackpropData", 1, {x, weights}, window), spatial)};
  }
  // IR's same_lower cuts what TensorFlow's SAME pads: the larger half at the end.
  if (window["auto_pad"] == "same_upper") window["auto_pad"] = "same_lower";
  return {from_channels_first(c, c.add("ConvolutionBackpropData", 1, {x, weights, sizes}, window), spatial)};
}

// The bias belongs to the channels: the last axis, or the one behind the batch.
TensorflowValues convert_bias_add(TensorflowContext& c) {
  PortRef bias = c.input(1);
  if (!has_channels_last(c)) {
    const auto rank = static_cast<std::int64_t>(c.rank(c.input(0)));
    Shape shape(static_cast<std::size_t>(std::max<std::int64_t>(rank - 1, 1)), 1);
    shape[0] = c.dim(bias, 0);
    bias = reshaped(c, bias, shape);
  }
  return {c.binary("Add", c.input(0), bias)};
}

constexpr TensorflowConverter kConverters[] = {
    {"Conv2D", convert_conv},
    {"Conv3D", convert_conv},
    {"DepthwiseConv2dNative", convert_depthwise},
    {"Conv2DBackpropInput", convert_backprop},
    {"Conv3DBackpropInputV2", convert_backprop},
    {"BiasAdd", convert_bias_add},
    {"BiasAddV1", convert_bias_add},
};

}  // namespace

std::span<const TensorflowConverter> convolution_tensorflow() { return kConverters; }

}  // namespace headrace::detail
