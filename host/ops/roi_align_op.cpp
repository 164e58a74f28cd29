// SPDX-License-Identifier: Apache-2.0
// ROIAlign: bins of a picture's regions, each the mean or the maximum of values between its elements.
//
// data [N, C, H, W], rois [R, 4] = (x1, y1, x2, y2), batches [R]: result [R, C, PH, PW]. Source: Mask R-CNN (He 2017).
#include <algorithm>
#include <cmath>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ROIAlign"};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("pooled_h", parse_int(raw, "pooled_h"));
  attributes.set("pooled_w", parse_int(raw, "pooled_w"));
  attributes.set("sampling_ratio", parse_int(raw, "sampling_ratio"));
  attributes.set("spatial_scale", parse_double(raw, "spatial_scale"));
  attributes.set("mode", parse_enum(raw, "mode", "avg", {"avg", "max"}));
  if (opset >= 9) {
    attributes.set("aligned_mode",
                   parse_enum(raw, "aligned_mode", "asymmetric", {"asymmetric", "half_pixel_for_nn", "half_pixel"}));
  }
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  constexpr std::int64_t kMostBins = 1 << 16;
  constexpr std::int64_t kMostRatio = 4096;
  check_input_count(node, inputs.size(), 3, 3);
  check_float_type(node, inputs, 0, "data");
  check_same_types(node, inputs, {0, 1});
  check_index_type(node, inputs, 2, "batch indices");
  check_rank(node, inputs[0].shape, 4, "data");
  check_rank(node, inputs[2].shape, 1, "batch indices");
  check_shape(node, inputs[1].shape, {inputs[2].shape[0], 4}, "regions");
  const std::int64_t rows = node.attributes.get_int("pooled_h");
  const std::int64_t columns = node.attributes.get_int("pooled_w");
  const std::int64_t ratio = node.attributes.get_int("sampling_ratio");
  if (rows < 1 || columns < 1 || rows > kMostBins || columns > kMostBins || ratio < 0 || ratio > kMostRatio) {
    fail_node(node, "has " + std::to_string(rows) + " rows, " + std::to_string(columns) +
                        " columns and sampling_ratio " + std::to_string(ratio));
  }
  return {{inputs[0].type, {inputs[2].shape[0], inputs[0].shape[1], rows, columns}}};
}

// One axis of a region: where it starts, how large its bins are and how many samples each takes.
struct Axis {
  double start = 0;
  double bin_size = 0;
  std::int64_t samples = 1;
};

Axis axis_of(const Node& node, double from, double to, std::int64_t bins) {
  // Regions far outside any picture would ask for endless samples.
  constexpr double kMostSamples = 4096;
  const std::string mode =
      node.attributes.has("aligned_mode") ? node.attributes.get_string("aligned_mode") : "asymmetric";
  const double scale = node.attributes.get_double("spatial_scale");
  const double before = mode == "half_pixel" ? 0.5 : 0;
  const double behind = mode == "asymmetric" ? 0 : -0.5;
  const double start = (from + before) * scale + behind;
  double size = (to + before) * scale + behind - start;
  if (mode == "asymmetric") size = std::max(size, 1.0);
  Axis axis{start, size / static_cast<double>(bins), node.attributes.get_int("sampling_ratio")};
  if (axis.samples != 0) return axis;
  axis.samples = axis.bin_size > 0 ? static_cast<std::int64_t>(std::fmin(std::ceil(axis.bin_size), kMostSamples)) : 0;
  return axis;
}

// Two neighbours with their weights; none outside the picture.
struct Neighbours {
  std::int64_t low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
  bool is_outside = false;
};

Neighbours neighbours_of(double place, std::int64_t size) {
  if (!(place >= -1 && place <= static_cast<double>(size))) return {0, 0, 0, 0, true};
  place = std::max(place, 0.0);
  const auto low = static_cast<std::int64_t>(place);
  if (low >= size - 1) return {size - 1, size - 1, 1, 0, false};
  const double high_weight = place - static_cast<double>(low);
  return {low, low + 1, 1 - high_weight, high_weight, false};
}

// The mean or the largest of a bin's samples; those outside the picture count as 0.
double pooled(const Tensor& data, std::int64_t plane, const Axis& y, const Axis& x, std::int64_t row,
              std::int64_t column, bool is_max) {
  const Shape& shape = data.shape();
  double sum = 0;
  double highest = 0;  // as OpenVINO has it: a maximum is never below 0
  for (std::int64_t iy = 0; iy < y.samples; ++iy) {
    const double part_y = (static_cast<double>(iy) + 0.5) / static_cast<double>(y.samples);
    const Neighbours v = neighbours_of(y.start + (static_cast<double>(row) + part_y) * y.bin_size, shape[2]);
    for (std::int64_t ix = 0; ix < x.samples; ++ix) {
      const double part_x = (static_cast<double>(ix) + 0.5) / static_cast<double>(x.samples);
      const Neighbours h = neighbours_of(x.start + (static_cast<double>(column) + part_x) * x.bin_size, shape[3]);
      if (v.is_outside || h.is_outside) continue;
      const auto at = [&](std::int64_t i, std::int64_t j) { return real_at(data, plane + i * shape[3] + j); };
      const double value = v.low_weight * (h.low_weight * at(v.low, h.low) + h.high_weight * at(v.low, h.high)) +
                           v.high_weight * (h.low_weight * at(v.high, h.low) + h.high_weight * at(v.high, h.high));
      sum += value;
      highest = std::max(highest, value);
    }
  }
  const std::int64_t count = y.samples * x.samples;
  return is_max ? highest : (count > 0 ? sum / static_cast<double>(count) : 0);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& data = inputs[0].shape();
  const Shape& result = outputs[0].shape();
  const std::vector<std::int64_t> batches = to_int64s(inputs[2]);
  const bool is_max = node.attributes.get_string("mode") == "max";
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < result[0]; ++r) {
    const std::int64_t batch = checked_index(node, batches[static_cast<std::size_t>(r)], data[0], r);
    const auto corner = [&](std::int64_t k) { return real_at(inputs[1], r * 4 + k); };
    const Axis x = axis_of(node, corner(0), corner(2), result[3]);
    const Axis y = axis_of(node, corner(1), corner(3), result[2]);
    for (std::int64_t c = 0; c < result[1]; ++c) {
      const std::int64_t plane = (batch * data[1] + c) * data[2] * data[3];
      for (std::int64_t bin = 0; bin < result[2] * result[3]; ++bin) {
        set_real(outputs[0], i++, pooled(inputs[0], plane, y, x, bin / result[3], bin % result[3], is_max));
      }
    }
  }
}

}  // namespace

const OpDescriptor& roi_align_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
