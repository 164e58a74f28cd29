// SPDX-License-Identifier: Apache-2.0
// ROIPooling and PSROIPooling: a picture's regions, cut into bins of which each gives one value.
//
// data [N, C, H, W], rois [R, 5] = (batch, x1, y1, x2, y2); results [R, C, PH, PW] and [R, OC, G, G]. Sources: Fast
// R-CNN (Girshick 2015), R-FCN (Dai 2016); the bilinear forms as OpenVINO's operator specification has them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"ROIPooling", "PSROIPooling"};

Attributes parse(std::string_view type, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("spatial_scale", parse_double(raw, "spatial_scale"));
  if (type == "ROIPooling") {
    // Newer files name the size a second and third time, as output_roi and output_size.
    attributes.set("pooled_h", parse_int(raw, "pooled_h"));
    attributes.set("pooled_w", parse_int(raw, "pooled_w"));
    attributes.set("method", parse_enum(raw, "method", "max", {"max", "bilinear"}));
    return attributes;
  }
  attributes.set("output_dim", parse_int(raw, "output_dim"));
  attributes.set("group_size", parse_int(raw, "group_size", 1));
  attributes.set("mode", parse_enum(raw, "mode", "average", {"average", "bilinear"}));
  attributes.set("spatial_bins_x", parse_int(raw, "spatial_bins_x", 1));
  attributes.set("spatial_bins_y", parse_int(raw, "spatial_bins_y", 1));
  return attributes;
}

std::int64_t positive(const Node& node, const char* name) {
  constexpr std::int64_t kMost = 1 << 16;
  const std::int64_t value = node.attributes.get_int(name);
  if (value < 1 || value > kMost) fail_node(node, "has " + std::string(name) + " " + std::to_string(value));
  return value;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  check_float_type(node, inputs, 0, "data");
  check_same_types(node, inputs, {0, 1});
  check_rank(node, inputs[0].shape, 4, "data");
  const Shape& data = inputs[0].shape;
  check_shape(node, inputs[1].shape, {inputs[1].shape.empty() ? 0 : inputs[1].shape[0], 5}, "regions");
  const std::int64_t regions = inputs[1].shape[0];
  if (node.type == "ROIPooling") {
    return {{inputs[0].type, {regions, data[1], positive(node, "pooled_h"), positive(node, "pooled_w")}}};
  }
  const std::int64_t group = positive(node, "group_size");
  const std::int64_t channels = positive(node, "output_dim");
  const std::int64_t bins = node.attributes.get_string("mode") == "average"
                                ? group * group
                                : positive(node, "spatial_bins_x") * positive(node, "spatial_bins_y");
  if (data[1] != count_elems({channels, bins})) {
    fail_node(node, "needs " + std::to_string(count_elems({channels, bins})) + " channels of data, has " +
                        std::to_string(data[1]));
  }
  return {{inputs[0].type, {regions, channels, group, group}}};
}

struct Region {
  std::int64_t batch = 0;
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

// Batch -1 marks the end of the regions: this one and those behind it give zeros.
std::vector<Region> regions_of(const Node& node, const Tensor& rois, std::int64_t batches) {
  std::vector<Region> regions;
  for (std::int64_t i = 0; i < rois.shape()[0]; ++i) {
    const auto at = [&](std::int64_t k) { return real_at(rois, i * 5 + k); };
    if (at(0) == -1) break;
    if (!(at(0) >= 0 && at(0) < static_cast<double>(batches))) {
      fail(ErrorCode::kInvalidArgument,
           node.type + " has a region of batch " + std::to_string(at(0)) + " of " + std::to_string(batches));
    }
    regions.push_back({static_cast<std::int64_t>(at(0)), at(1), at(2), at(3), at(4)});
  }
  return regions;
}

// Elements [first, last) of an axis.
struct Bin {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// A place of any size as an element of an axis, NaN as 0.
std::int64_t clamped(double place, std::int64_t size) {
  if (!(place > 0)) return 0;
  return place < static_cast<double>(size) ? static_cast<std::int64_t>(place) : size;
}

Bin bin_of(double start, double bin_size, std::int64_t number, std::int64_t size) {
  const auto n = static_cast<double>(number);
  return {clamped(std::floor(n * bin_size + start), size), clamped(std::ceil((n + 1) * bin_size + start), size)};
}

template <typename Visit>
void visit_bin(const Bin& y, const Bin& x, std::int64_t width, Visit visit) {
  for (std::int64_t h = y.first; h < y.last; ++h) {
    for (std::int64_t w = x.first; w < x.last; ++w) visit(h * width + w);
  }
}

// A value between four elements; 0 outside the picture.
double bilinear_at(const Tensor& data, std::int64_t plane, std::int64_t height, std::int64_t width, double y,
                   double x) {
  if (!(y >= 0 && y <= static_cast<double>(height - 1) && x >= 0 && x <= static_cast<double>(width - 1))) return 0;
  const auto top = static_cast<std::int64_t>(std::floor(y));
  const auto left = static_cast<std::int64_t>(std::floor(x));
  const std::int64_t bottom = std::min(top + 1, height - 1);
  const std::int64_t right = std::min(left + 1, width - 1);
  const double dy = y - static_cast<double>(top);
  const double dx = x - static_cast<double>(left);
  const auto at = [&](std::int64_t h, std::int64_t w) { return real_at(data, plane + h * width + w); };
  const double upper = at(top, left) + (at(top, right) - at(top, left)) * dx;
  const double lower = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * dx;
  return upper + (lower - upper) * dy;
}

// The place of point `number` of `count` between two relative places of an axis.
double spread(double from, double to, std::int64_t number, std::int64_t count, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (count == 1) return 0.5 * (from + to) * last;
  return static_cast<double>(number) * (to - from) * last / static_cast<double>(count - 1) + from * last;
}

// What one value of the result comes from.
struct Place {
  std::int64_t channel = 0, row = 0, column = 0;
};

double max_pooled(const Node& node, const Tensor& data, const Region& region, const Place& at, const Shape& result) {
  const double scale = node.attributes.get_double("spatial_scale");
  const Shape& shape = data.shape();
  const double left = std::round(region.x1 * scale);
  const double top = std::round(region.y1 * scale);
  const double width = std::max(std::round(region.x2 * scale) - left + 1, 1.0);
  const double height = std::max(std::round(region.y2 * scale) - top + 1, 1.0);
  const Bin y = bin_of(top, height / static_cast<double>(result[2]), at.row, shape[2]);
  const Bin x = bin_of(left, width / static_cast<double>(result[3]), at.column, shape[3]);
  if (y.first >= y.last || x.first >= x.last) return 0;
  const std::int64_t plane = (region.batch * shape[1] + at.channel) * shape[2] * shape[3];
  double highest = -std::numeric_limits<double>::infinity();
  visit_bin(y, x, shape[3], [&](std::int64_t i) {
    const double value = real_at(data, plane + i);
    if (value > highest || value != value) highest = value;
  });
  return highest;
}

double bilinear_pooled(const Tensor& data, const Region& region, const Place& at, const Shape& result) {
  const Shape& shape = data.shape();
  const double y = spread(region.y1, region.y2, at.row, result[2], shape[2]);
  const double x = spread(region.x1, region.x2, at.column, result[3], shape[3]);
  const std::int64_t plane = (region.batch * shape[1] + at.channel) * shape[2] * shape[3];
  return bilinear_at(data, plane, shape[2], shape[3], y, x);
}

double average_group(const Node& node, const Tensor& data, const Region& region, const Place& at, const Shape& result) {
  constexpr double kLeastSize = 0.1;
  const double scale = node.attributes.get_double("spatial_scale");
  const Shape& shape = data.shape();
  const auto group = static_cast<double>(result[2]);
  const double left = std::round(region.x1) * scale;
  const double top = std::round(region.y1) * scale;
  const double width = std::max((std::round(region.x2) + 1) * scale - left, kLeastSize);
  const double height = std::max((std::round(region.y2) + 1) * scale - top, kLeastSize);
  const Bin y = bin_of(top, height / group, at.row, shape[2]);
  const Bin x = bin_of(left, width / group, at.column, shape[3]);
  const std::int64_t count = (y.last - y.first) * (x.last - x.first);
  if (y.first >= y.last || x.first >= x.last) return 0;
  const std::int64_t channel = (at.channel * result[2] + at.row) * result[3] + at.column;
  const std::int64_t plane = (region.batch * shape[1] + channel) * shape[2] * shape[3];
  double sum = 0;
  visit_bin(y, x, shape[3], [&](std::int64_t i) { sum += real_at(data, plane + i); });
  return sum / static_cast<double>(count);
}

double bilinear_group(const Node& node, const Tensor& data, const Region& region, const Place& at,
                      const Shape& result) {
  const double scale = node.attributes.get_double("spatial_scale");
  const std::int64_t bins_x = node.attributes.get_int("spatial_bins_x");
  const std::int64_t bins_y = node.attributes.get_int("spatial_bins_y");
  const Shape& shape = data.shape();
  const double width = (region.x2 - region.x1) * scale / static_cast<double>(bins_x);
  const double height = (region.y2 - region.y1) * scale / static_cast<double>(bins_y);
  double sum = 0;
  for (std::int64_t by = 0; by < bins_y; ++by) {
    const double top = region.y1 * scale + static_cast<double>(by) * height;
    const double y = spread(top, top + height, at.row, result[2], shape[2]);
    for (std::int64_t bx = 0; bx < bins_x; ++bx) {
      const double left = region.x1 * scale + static_cast<double>(bx) * width;
      const double x = spread(left, left + width, at.column, result[3], shape[3]);
      const std::int64_t channel = (by * bins_x + bx) * result[1] + at.channel;
      sum += bilinear_at(data, (region.batch * shape[1] + channel) * shape[2] * shape[3], shape[2], shape[3], y, x);
    }
  }
  return sum / static_cast<double>(bins_x * bins_y);
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& result = outputs[0].shape();
  const bool is_roi = node.type == "ROIPooling";
  const bool is_bilinear = node.attributes.get_string(is_roi ? "method" : "mode") == "bilinear";
  std::fill_n(outputs[0].mutable_data(), outputs[0].size_bytes(), std::byte{0});
  std::int64_t i = 0;
  for (const Region& region : regions_of(node, inputs[1], inputs[0].shape()[0])) {
    for (std::int64_t place = 0; place < result[1] * result[2] * result[3]; ++place) {
      const Place at{place / (result[2] * result[3]), place / result[3] % result[2], place % result[3]};
      double value = 0;
      if (is_roi) {
        value = is_bilinear ? bilinear_pooled(inputs[0], region, at, result)
                            : max_pooled(node, inputs[0], region, at, result);
      } else {
        value = is_bilinear ? bilinear_group(node, inputs[0], region, at, result)
                            : average_group(node, inputs[0], region, at, result);
      }
      set_real(outputs[0], i++, value);
    }
  }
}

}  // namespace

const OpDescriptor& roi_pool_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
