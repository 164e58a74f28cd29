// SPDX-License-Identifier: Apache-2.0
// DeformableConvolution: a convolution whose taps read at offsets of their own, weighted by an optional mask.
//
// data [N, C, H, W], offsets [N, DG * KH * KW * 2, OH, OW] with (dy, dx) per tap, weights [OC, C / G, KH, KW], mask
// [N, DG * KH * KW, OH, OW]. Sources: Dai 2017, Zhu 2018 (mask).
#include <algorithm>
#include <cmath>

#include "ops/checks.hpp"
#include "ops/conv_shape.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"DeformableConvolution"};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  for (const std::string_view name : {"strides", "pads_begin", "pads_end", "dilations"}) {
    attributes.set(name, parse_ints(raw, name, {}));
  }
  attributes.set("auto_pad",
                 parse_enum(raw, "auto_pad", "explicit", {"explicit", "notset", "same_upper", "same_lower", "valid"}));
  attributes.set("group", parse_int(raw, "group", 1));
  attributes.set("deformable_group", parse_int(raw, "deformable_group", 1));
  if (opset >= 8) {
    attributes.set("bilinear_interpolation_pad", parse_bool(raw, "bilinear_interpolation_pad", false));
  }
  return attributes;
}

// The geometry of one group as that of a plain convolution.
ConvShape shape_of(const Node& node, const Shape& data, const Shape& weights) {
  check_rank(node, data, 4, "data");
  check_rank(node, weights, 4, "weights");
  const std::int64_t groups = node.attributes.get_int("group");
  const std::int64_t deformable = node.attributes.get_int("deformable_group");
  if (groups < 1 || deformable < 1 || data[1] % groups != 0 || weights[0] % groups != 0 || data[1] % deformable != 0) {
    fail_node(node, "of " + std::to_string(groups) + " groups and " + std::to_string(deformable) +
                        " deformable groups does not fit data " + to_string(data) + " and weights " +
                        to_string(weights));
  }
  Node plain = node;
  plain.type = "Convolution";
  return make_conv_shape(plain, {data[0], data[1] / groups, data[2], data[3]}, weights, std::nullopt);
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 4);
  check_float_type(node, inputs, 0, "data");
  for (std::size_t i = 1; i < inputs.size(); ++i) check_same_types(node, inputs, {0, i});
  const ConvShape shape = shape_of(node, inputs[0].shape, inputs[2].shape);
  const Shape result = shape.output_shape();
  const std::int64_t taps = count_elems({node.attributes.get_int("deformable_group"), shape.taps()});
  check_shape(node, inputs[1].shape, {result[0], 2 * taps, result[2], result[3]}, "offsets");
  if (inputs.size() == 4) check_shape(node, inputs[3].shape, {result[0], taps, result[2], result[3]}, "mask");
  return {{inputs[0].type, result}};
}

// A value between elements of a plane; those outside it are 0. Without `is_padded` places outside are 0 altogether and
// inside the last elements repeat.
double value_at(const Tensor& data, std::int64_t plane, const Shape& shape, double y, double x, bool is_padded) {
  const auto height = static_cast<double>(shape[2]);
  const auto width = static_cast<double>(shape[3]);
  const double least = is_padded ? -1 : 0;
  const bool is_inside = (is_padded ? y > least && x > least : y >= least && x >= least) && y < height && x < width;
  if (!is_inside) return 0;
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0;
  for (int corner = 0; corner < 4; ++corner) {
    double row = top + corner / 2;
    double column = left + corner % 2;
    const double weight = (1 - std::fabs(y - row)) * (1 - std::fabs(x - column));
    if (!is_padded) {
      row = std::fmin(row, height - 1);
      column = std::fmin(column, width - 1);
    }
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    sum +=
        weight * real_at(data, plane + static_cast<std::int64_t>(row) * shape[3] + static_cast<std::int64_t>(column));
  }
  return sum;
}

class Deformable {
 public:
  Deformable(const Node& node, std::span<const Tensor> inputs)
      : inputs_(inputs),
        data_(inputs[0].shape()),
        shape_(shape_of(node, inputs[0].shape(), inputs[2].shape())),
        groups_(node.attributes.get_int("group")),
        deformable_(node.attributes.get_int("deformable_group")),
        is_padded_(node.attributes.has("bilinear_interpolation_pad") &&
                   node.attributes.get_bool("bilinear_interpolation_pad")) {}

  // Every tap of every channel for one place of the result: columns[c * taps + tap].
  void gather(std::int64_t n, std::int64_t place, std::vector<double>& columns) const {
    const std::int64_t taps = shape_.taps();
    const std::int64_t pixels = shape_.out[1] * shape_.out[2];
    const std::int64_t y0 = place / shape_.out[2] * shape_.stride[1] - shape_.pad_begin[1];
    const std::int64_t x0 = place % shape_.out[2] * shape_.stride[2] - shape_.pad_begin[2];
    for (std::int64_t d = 0; d < deformable_; ++d) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t entry = (n * deformable_ + d) * taps + tap;
        const double y = static_cast<double>(y0 + tap / shape_.kernel[2] * shape_.dilation[1]) +
                         real_at(inputs_[1], 2 * entry * pixels + place);
        const double x = static_cast<double>(x0 + tap % shape_.kernel[2] * shape_.dilation[2]) +
                         real_at(inputs_[1], (2 * entry + 1) * pixels + place);
        const double mask = inputs_.size() == 4 ? real_at(inputs_[3], entry * pixels + place) : 1;
        const std::int64_t channels = data_[1] / deformable_;
        for (std::int64_t c = d * channels; c < (d + 1) * channels; ++c) {
          const std::int64_t plane = (n * data_[1] + c) * data_[2] * data_[3];
          columns[static_cast<std::size_t>(c * taps + tap)] =
              mask * value_at(inputs_[0], plane, data_, y, x, is_padded_);
        }
      }
    }
  }

  double product(std::int64_t oc, const std::vector<double>& columns) const {
    const std::int64_t size = shape_.IC * shape_.taps();
    const std::int64_t first = oc / (shape_.OC / groups_) * size;
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      sum += real_at(inputs_[2], oc * size + i) * columns[static_cast<std::size_t>(first + i)];
    }
    return sum;
  }

  void run(Tensor& result) const {
    const std::int64_t pixels = shape_.out[1] * shape_.out[2];
    std::vector<double> columns(static_cast<std::size_t>(data_[1] * shape_.taps()));
    for (std::int64_t i = 0; i < data_[0] * pixels; ++i) {
      gather(i / pixels, i % pixels, columns);
      for (std::int64_t oc = 0; oc < shape_.OC; ++oc) {
        set_real(result, (i / pixels * shape_.OC + oc) * pixels + i % pixels, product(oc, columns));
      }
    }
  }

 private:
  std::span<const Tensor> inputs_;
  const Shape& data_;
  ConvShape shape_;
  std::int64_t groups_;
  std::int64_t deformable_;
  bool is_padded_;
};

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  Deformable(node, inputs).run(outputs[0]);
}

Cost cost(const Node& node, std::span<const InferInput> inputs, std::span<const InferOutput> outputs) {
  const ConvShape shape = shape_of(node, inputs[0].shape, inputs[2].shape);
  Cost result{2 * count_elems(outputs[0].shape) * shape.IC * shape.taps(), 0};
  for (const InferInput& input : inputs) {
    result.bytes += count_elems(input.shape) * static_cast<std::int64_t>(size_bytes(input.type));
  }
  return result;
}

}  // namespace

const OpDescriptor& deformable_conv_op() {
  static constexpr OpDescriptor op = {
      .types = kTypes, .parse = parse, .infer = infer, .cost = cost, .reference = reference};
  return op;
}

}  // namespace headrace
