// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_shape.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace headrace {
namespace {

// Sizes, strides and pads beyond this have no meaning and could overflow products.
constexpr std::int64_t kMaxValue = 0x3fffffff;

// One spatial dimension.
struct Axis {
  std::int64_t in = 1, kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_begin = 0, pad_end = 0, output_padding = 0;

  std::int64_t kernel_extent() const { return (kernel - 1) * dilation + 1; }
};

void split_padding(Axis& axis, std::int64_t total, bool is_begin_larger) {
  total = std::max<std::int64_t>(total, 0);
  axis.pad_begin = is_begin_larger ? total - total / 2 : total / 2;
  axis.pad_end = total - axis.pad_begin;
}

std::int64_t output_size(Axis& axis, const std::string& auto_pad) {
  if (auto_pad == "same_upper" || auto_pad == "same_lower") {
    const std::int64_t out = (axis.in + axis.stride - 1) / axis.stride;
    split_padding(axis, (out - 1) * axis.stride + axis.kernel_extent() - axis.in, auto_pad == "same_lower");
    return out;
  }
  if (auto_pad == "valid") axis.pad_begin = axis.pad_end = 0;
  const std::int64_t room = axis.in + axis.pad_begin + axis.pad_end - axis.kernel_extent();
  if (room < 0) {
    fail(ErrorCode::kBadModel, "kernel spans " + std::to_string(axis.kernel_extent()) + " elements, padded input has " +
                                   std::to_string(axis.in + axis.pad_begin + axis.pad_end));
  }
  return room / axis.stride + 1;
}

// Measured against OpenVINO 2026.4: without a wanted size auto_pad other than explicit means no pads; with one, same_*
// splits what is to be cut off, and same_upper cuts more at the beginning.
std::int64_t transposed_output_size(Axis& axis, const std::string& auto_pad, std::optional<std::int64_t> wanted) {
  const std::int64_t full = axis.stride * (axis.in - 1) + axis.kernel_extent() + axis.output_padding;
  if (auto_pad != "explicit") axis.pad_begin = axis.pad_end = 0;
  if (wanted && (auto_pad == "same_upper" || auto_pad == "same_lower")) {
    split_padding(axis, full - *wanted, auto_pad == "same_upper");
  }
  const std::int64_t out = wanted ? *wanted : full - axis.pad_begin - axis.pad_end;
  if (out < 0) fail(ErrorCode::kBadModel, "pads are larger than the output");
  return out;
}

std::vector<std::int64_t> attribute(const Node& node, std::string_view name, std::size_t rank, std::int64_t fallback,
                                    std::int64_t at_least) {
  std::vector<std::int64_t> values = node.attributes.get_ints(name);
  if (values.empty()) values.assign(rank, fallback);
  if (values.size() != rank) {
    fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
                                   " values, expected " + std::to_string(rank));
  }
  for (const std::int64_t value : values) {
    if (value < at_least || value > kMaxValue) {
      fail(ErrorCode::kBadModel,
           "attribute '" + std::string(name) + "' has value " + std::to_string(value) + " out of range");
    }
  }
  return values;
}

void check_ranks(const Node& node, const Shape& src, const Shape& wei) {
  const std::size_t extra = is_group_convolution(node) ? 1 : 0;
  if (src.size() < 3 || src.size() > 5 || wei.size() != src.size() + extra) {
    fail(ErrorCode::kBadModel, "input of shape " + to_string(src) + " and weights of shape " + to_string(wei) +
                                   " do not fit: expected ranks 3 to 5 and " + (extra ? "one more" : "the same"));
  }
  for (const Shape* shape : {&src, &wei}) {
    for (const std::int64_t size : *shape) {
      if (size > kMaxValue) fail(ErrorCode::kBadModel, "dimension of " + to_string(*shape) + " is too large");
    }
  }
}

void set_channels(const Node& node, const Shape& src, const Shape& wei, ConvShape& shape) {
  const std::size_t at = is_group_convolution(node) ? 1 : 0;
  shape.G = at == 1 ? wei[0] : 1;
  shape.OC = wei[at + (shape.is_transposed ? 1 : 0)];
  shape.IC = wei[at + (shape.is_transposed ? 0 : 1)];
  if (shape.G < 1 || shape.G > kMaxValue / std::max<std::int64_t>(shape.IC, 1) || src[1] != shape.G * shape.IC) {
    fail(ErrorCode::kBadModel, "weights of shape " + to_string(wei) + " expect " + std::to_string(shape.G) + " x " +
                                   std::to_string(shape.IC) + " input channels, input has " + std::to_string(src[1]));
  }
}

std::string text_of(const Triple& values) {
  return std::to_string(values[0]) + "x" + std::to_string(values[1]) + "x" + std::to_string(values[2]);
}

}  // namespace

Shape ConvShape::output_shape() const {
  Shape shape{N, G * OC};
  shape.insert(shape.end(), out.end() - static_cast<std::ptrdiff_t>(spatial_rank), out.end());
  return shape;
}

std::string ConvShape::shape_class(std::string_view kind) const {
  std::string text(kind);
  for (const auto& [name, value] : {std::pair{" n", N}, {" g", G}, {" ic", IC}, {" oc", OC}}) {
    text += name + std::to_string(value);
  }
  for (const auto& [name, values] : {std::pair{" out", &out}, {" k", &kernel}, {" s", &stride}, {" d", &dilation}}) {
    text += name + text_of(*values);
  }
  return text;
}

bool is_group_convolution(const Node& node) { return node.type.rfind("Group", 0) == 0; }

bool is_transposed_convolution(const Node& node) { return node.type.find("Backprop") != std::string::npos; }

ConvShape make_conv_shape(const Node& node, const Shape& src, const Shape& wei,
                          const std::optional<Shape>& out_spatial) {
  check_ranks(node, src, wei);
  ConvShape shape;
  shape.is_transposed = is_transposed_convolution(node);
  shape.spatial_rank = src.size() - 2;
  shape.N = src[0];
  set_channels(node, src, wei, shape);
  const std::size_t rank = shape.spatial_rank;
  if (out_spatial && out_spatial->size() != rank) {
    fail(ErrorCode::kBadModel,
         "output shape " + to_string(*out_spatial) + " needs " + std::to_string(rank) + " values");
  }
  const std::string& auto_pad = node.attributes.get_string("auto_pad");
  const auto strides = attribute(node, "strides", rank, 1, 1);
  const auto dilations = attribute(node, "dilations", rank, 1, 1);
  const auto pads_begin = attribute(node, "pads_begin", rank, 0, -kMaxValue);
  const auto pads_end = attribute(node, "pads_end", rank, 0, -kMaxValue);
  std::vector<std::int64_t> output_padding(rank, 0);
  if (shape.is_transposed) output_padding = attribute(node, "output_padding", rank, 0, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    Axis axis{src[2 + i],  wei[wei.size() - rank + i], strides[i], dilations[i], pads_begin[i],
              pads_end[i], output_padding[i]};
    if (axis.kernel < 1) fail(ErrorCode::kBadModel, "weights of shape " + to_string(wei) + " have an empty kernel");
    const std::size_t to = 3 - rank + i;
    if (shape.is_transposed) {
      const auto wanted = out_spatial ? std::optional<std::int64_t>((*out_spatial)[i]) : std::nullopt;
      shape.out[to] = transposed_output_size(axis, auto_pad, wanted);
    } else {
      shape.out[to] = output_size(axis, auto_pad);
    }
    shape.in[to] = axis.in;
    shape.kernel[to] = axis.kernel;
    shape.stride[to] = axis.stride;
    shape.dilation[to] = axis.dilation;
    shape.pad_begin[to] = axis.pad_begin;
  }
  return shape;
}

}  // namespace headrace
