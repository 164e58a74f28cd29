// SPDX-License-Identifier: Apache-2.0
// Convolutions: plain, transposed, of integers, deformable.
#include <algorithm>
#include <cstdlib>

#include "formats/onnx/onnx_quantized.hpp"
#include "formats/onnx/onnx_window.hpp"

namespace headrace::detail {
namespace {

std::size_t spatial_rank(const OnnxContext& c, PortRef weights) {
  const std::size_t rank = c.rank(weights);
  if (rank < 3) fail(ErrorCode::kBadModel, "its weights have rank " + std::to_string(rank) + ", expected 3 or more");
  return rank - 2;
}

std::int64_t group_count(const OnnxContext& c) {
  const std::int64_t groups = c.attr_int("group", 1);
  if (groups < 1) fail(ErrorCode::kBadModel, "group is " + text(groups));
  return groups;
}

// [G * A, B, k...] to [G, A, B, k...].
PortRef grouped_weights(OnnxContext& c, PortRef weights, std::int64_t groups) {
  Shape shape = c.shape(weights);
  if (shape[0] % groups != 0) {
    fail(ErrorCode::kBadModel,
         "weights of shape " + to_string(shape) + " do not divide into " + text(groups) + " groups");
  }
  shape[0] /= groups;
  shape.insert(shape.begin(), groups);
  return reshape_constant(c, weights, shape);
}

void check_kernel_shape(const OnnxContext& c, PortRef weights) {
  const auto kernel = c.attr_ints("kernel_shape");
  const auto shape = c.static_shape(weights);
  if (!kernel || !shape) return;
  if (!std::equal(kernel->begin(), kernel->end(), shape->begin() + 2, shape->end())) {
    fail(ErrorCode::kBadModel,
         "kernel_shape " + to_string(*kernel) + " is not that of the weights " + to_string(*shape));
  }
}

PortRef convolve(OnnxContext& c, PortRef x, PortRef weights) {
  check_kernel_shape(c, weights);
  const RawAttributes attributes = window_attributes(onnx_window(c, spatial_rank(c, weights)));
  const std::int64_t groups = group_count(c);
  if (groups == 1) return c.add("Convolution", 1, {x, weights}, attributes);
  return c.add("GroupConvolution", 1, {x, grouped_weights(c, weights, groups)}, attributes);
}

PortRef with_bias(OnnxContext& c, PortRef y, std::size_t input, std::size_t rank) {
  if (!c.has_input(input)) return y;
  return c.binary("Add", y, per_channel(c, c.input(input), rank));
}

std::vector<PortRef> convert_conv(OnnxContext& c) {
  const std::size_t rank = spatial_rank(c, c.input(1)) + 2;
  return {with_bias(c, convolve(c, c.input(0), c.input(1)), 2, rank)};
}

// Pads of a transposed convolution that give the wanted output size. What is left over goes to the end for SAME_UPPER
// and to the beginning else, as ONNX Runtime does.
void set_output_size(OnnxContext& c, OnnxWindow& window, Ints& output_padding, const Ints& wanted) {
  const Shape x = c.shape(c.input(0));
  const Shape weights = c.shape(c.input(1));
  const std::size_t skipped = wanted.size() == x.size() ? 2 : 0;  // some files give N and C too
  const std::size_t spatial = x.size() - 2;
  if (wanted.size() != spatial + skipped) fail(ErrorCode::kBadModel, "output_shape is " + to_string(wanted));
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t full =
        window.strides[i] * (x[i + 2] - 1) + output_padding[i] + (weights[i + 2] - 1) * window.dilations[i] + 1;
    const std::int64_t total = full - wanted[i + skipped];
    if (total < 0) output_padding[i] -= total;
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    window.pads_begin[i] = window.auto_pad == "same_upper" ? cut / 2 : cut - cut / 2;
    window.pads_end[i] = cut - window.pads_begin[i];
  }
}

std::vector<PortRef> convert_conv_transpose(OnnxContext& c) {
  const PortRef x = c.input(0);
  const PortRef weights = c.input(1);
  check_kernel_shape(c, weights);
  const std::size_t spatial = spatial_rank(c, weights);
  OnnxWindow window = onnx_window(c, spatial);
  Ints output_padding = c.attr_ints("output_padding").value_or(Ints{});
  if (output_padding.empty()) output_padding.assign(spatial, 0);
  if (output_padding.size() != spatial) fail(ErrorCode::kBadModel, "output_padding is " + to_string(output_padding));
  if (const auto wanted = c.attr_ints("output_shape"); wanted && !wanted->empty()) {
    set_output_size(c, window, output_padding, *wanted);
  } else if (window.auto_pad == "same_upper" || window.auto_pad == "same_lower") {
    Ints same;
    for (std::size_t i = 0; i < spatial; ++i) same.push_back(c.dim(x, i + 2) * window.strides[i]);
    set_output_size(c, window, output_padding, same);
  } else if (window.auto_pad == "valid") {
    window.pads_begin.assign(spatial, 0);
    window.pads_end.assign(spatial, 0);
  }
  window.auto_pad = "explicit";
  RawAttributes attributes = window_attributes(window);
  attributes["output_padding"] = text(output_padding);
  const std::int64_t groups = group_count(c);
  PortRef y = groups == 1
                  ? c.add("ConvolutionBackpropData", 1, {x, weights}, attributes)
                  : c.add("GroupConvolutionBackpropData", 1, {x, grouped_weights(c, weights, groups)}, attributes);
  return {with_bias(c, y, 2, spatial + 2)};
}

// Sums of products of integers, exact in f32: where the sums could pass 2^24, x is taken in two parts of four bits.
// x and weights are f32 tensors that hold integers of at most 9 bits. The result is i32.
PortRef convolve_integers(OnnxContext& c, PortRef x, PortRef weights, ElementType weights_type) {
  constexpr std::int64_t kExact = std::int64_t{1} << 24;
  const Shape shape = c.shape(weights);
  const std::int64_t taps = count_elems(shape) / std::max<std::int64_t>(shape[0], 1);
  const std::int64_t largest = weights_type == ElementType::u8 ? 255 : 256;  // |w - zero point|
  if (taps * 256 * largest < kExact) return c.convert(convolve(c, x, weights), ElementType::i32);
  if (taps * 16 * largest >= kExact) c.refuse("sums of " + text(taps) + " products of integers");
  const PortRef sixteen = c.constant_scalar(16, ElementType::f32);
  const PortRef high = c.unary("Floor", c.binary("Divide", x, sixteen));
  const PortRef low = c.binary("Subtract", x, c.binary("Multiply", high, sixteen));
  const PortRef high_sum = c.convert(convolve(c, high, weights), ElementType::i32);
  const PortRef low_sum = c.convert(convolve(c, low, weights), ElementType::i32);
  return c.binary("Add", c.binary("Multiply", high_sum, c.constant_scalar(16, ElementType::i32)), low_sum);
}

std::vector<PortRef> convert_conv_integer(OnnxContext& c) {
  const std::size_t rank = spatial_rank(c, c.input(1)) + 2;
  const PortRef x = without_zero_point(c, c.input(0), c.maybe_input(2), ElementType::f32, {});
  const PortRef weights = without_zero_point(c, c.input(1), c.maybe_input(3), ElementType::f32, {rank, 0});
  return {convolve_integers(c, x, weights, c.element_type(c.input(1)))};
}

// Inputs: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias (i32).
std::vector<PortRef> convert_qlinear_conv(OnnxContext& c) {
  const std::size_t rank = spatial_rank(c, c.input(3)) + 2;
  const PortRef x = without_zero_point(c, c.input(0), c.maybe_input(2), ElementType::f32, {});
  const PortRef weights = without_zero_point(c, c.input(3), c.maybe_input(5), ElementType::f32, {rank, 0});
  PortRef sum = convolve_integers(c, x, weights, c.element_type(c.input(3)));
  if (c.has_input(8)) sum = c.binary("Add", sum, per_channel(c, c.input(8), rank));
  const PortRef w_scale = along_axis(c, c.input(4), {rank, 1});
  const PortRef factor = c.binary("Divide", c.binary("Multiply", c.input(1), w_scale), c.input(6));
  return {quantize(c, c.binary("Multiply", c.convert(sum, ElementType::f32), factor), c.maybe_input(7), {})};
}

// Inputs: x, weights, offset, bias, mask.
std::vector<PortRef> convert_deform_conv(OnnxContext& c) {
  const std::size_t rank = spatial_rank(c, c.input(1)) + 2;
  RawAttributes attributes = window_attributes(onnx_window(c, rank - 2));
  attributes["group"] = text(group_count(c));
  attributes["deformable_group"] = text(c.attr_int("offset_group", 1));
  attributes["bilinear_interpolation_pad"] = "true";
  std::vector<PortRef> inputs = {c.input(0), c.input(2), c.input(1)};
  if (c.has_input(4)) inputs.push_back(c.input(4));
  return {with_bias(c, c.add("DeformableConvolution", 8, inputs, attributes), 3, rank)};
}

constexpr OnnxConverter kConverters[] = {
    {"Conv", convert_conv},
    {"ConvTranspose", convert_conv_transpose},
    {"ConvInteger", convert_conv_integer},
    {"QLinearConv", convert_qlinear_conv},
    {"DeformConv", convert_deform_conv},
};

}  // namespace

std::span<const OnnxConverter> convolution_onnx() { return kConverters; }

}  // namespace headrace::detail
