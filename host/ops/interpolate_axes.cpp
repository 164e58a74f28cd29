// SPDX-License-Identifier: Apache-2.0
#include "ops/interpolate_axes.hpp"

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

using Taps = std::vector<InterpolateTap>;

// The input coordinate that output coordinate x stands for.
double source_coordinate(const InterpolateRule& rule, const InterpolateSize& size, std::int64_t x) {
  if (size.input == size.output) return static_cast<double>(x);
  const auto place = static_cast<double>(x);
  const std::string& mode = rule.coordinates;
  if (mode == "align_corners") {
    return size.output == 1 ? 0 : place * static_cast<double>(size.input - 1) / static_cast<double>(size.output - 1);
  }
  // Multiplied out where the scale is the ratio of the sizes: a division by 0.3 would miss ties by an ulp. A scale of
  // its own came as a float and was meant as a decimal: dividing floats, as others do, lands on the ties that it means.
  const double ratio = static_cast<double>(size.output) / static_cast<double>(size.input);
  const auto scaled = [&](double value) {
    if (size.scale == ratio) return value * static_cast<double>(size.input) / static_cast<double>(size.output);
    return static_cast<double>(static_cast<float>(value) / static_cast<float>(size.scale));
  };
  if (mode == "asymmetric") return scaled(place);
  if (mode == "tf_half_pixel_for_nn") return scaled(place + 0.5);
  if (mode == "pytorch_half_pixel" && size.output == 1) return 0;
  return scaled(place + 0.5) - 0.5;
}

std::int64_t nearest(const InterpolateRule& rule, double coordinate, double scale) {
  const double below = std::floor(coordinate);
  const std::string& mode = rule.nearest_mode;
  if (mode == "floor") return static_cast<std::int64_t>(below);
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(coordinate));
  if (mode == "simple") return static_cast<std::int64_t>(scale < 1 ? std::ceil(coordinate) : below);
  const double rest = coordinate - below;
  const bool goes_up = mode == "round_prefer_floor" ? rest > 0.5 : rest >= 0.5;
  return static_cast<std::int64_t>(below) + (goes_up ? 1 : 0);
}

Taps linear_onnx_taps(double coordinate, std::int64_t size) {
  const double place = std::clamp(coordinate, 0.0, static_cast<double>(size - 1));
  const auto low = static_cast<std::int64_t>(std::floor(place));
  const double rest = place - static_cast<double>(low);
  return {{low, 1 - rest}, {std::min(low + 1, size - 1), rest}};
}

void normalize(Taps& taps) {
  double sum = 0;
  for (const InterpolateTap& tap : taps) sum += tap.weight;
  if (sum == 0) return;
  for (InterpolateTap& tap : taps) tap.weight /= sum;
}

// Triangle weights over the elements around the coordinate; elements outside the input do not take part.
Taps linear_taps(const InterpolateRule& rule, double coordinate, const InterpolateSize& size) {
  const double width = rule.antialias ? size.scale : 1.0;
  const auto radius = static_cast<std::int64_t>(size.scale > 1 ? 2 : std::ceil(2 / width));
  const auto middle = static_cast<std::int64_t>(std::floor(coordinate + 0.5));
  Taps taps;
  for (std::int64_t i = middle - radius; i <= middle + radius; ++i) {
    const double weight = std::max(0.0, 1 - std::abs(width * (coordinate - static_cast<double>(i))));
    if (i >= 0 && i < size.input && weight > 0) taps.push_back({i, weight});
  }
  normalize(taps);
  return taps;
}

// Keys' cubic: the weight of an element at a distance from the coordinate.
double cubic_weight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Elements past an edge repeat the edge.
Taps cubic_taps(const InterpolateRule& rule, double coordinate, std::int64_t size) {
  const auto low = static_cast<std::int64_t>(std::floor(coordinate));
  Taps taps;
  for (std::int64_t i = low - 1; i <= low + 2; ++i) {
    const double weight = cubic_weight(coordinate - static_cast<double>(i), rule.cube_coeff);
    taps.push_back({std::clamp<std::int64_t>(i, 0, size - 1), weight});
  }
  return taps;
}

// Pillow's resampling: the filter is stretched when shrinking, cut at the edges and normalised.
Taps pillow_taps(const InterpolateRule& rule, const InterpolateSize& size, std::int64_t x) {
  const bool is_cubic = rule.mode == "bicubic_pillow";
  const double step = static_cast<double>(size.input) / static_cast<double>(size.output);
  const double stretch = std::max(1.0, step);
  const double support = (is_cubic ? 2.0 : 1.0) * stretch;
  const double center = (static_cast<double>(x) + 0.5) * step;
  const auto first = static_cast<std::int64_t>(std::max(0.0, center - support + 0.5));
  const auto last = static_cast<std::int64_t>(std::min(static_cast<double>(size.input), center + support + 0.5));
  Taps taps;
  for (std::int64_t i = first; i < last; ++i) {
    const double distance = (static_cast<double>(i) - center + 0.5) / stretch;
    const double weight = is_cubic ? cubic_weight(distance, rule.cube_coeff) : std::max(0.0, 1 - std::abs(distance));
    taps.push_back({i, weight});
  }
  normalize(taps);
  return taps;
}

Taps taps_of(const InterpolateRule& rule, const InterpolateSize& size, std::int64_t x) {
  if (rule.mode == "bilinear_pillow" || rule.mode == "bicubic_pillow") return pillow_taps(rule, size, x);
  const double coordinate = source_coordinate(rule, size, x);
  if (rule.mode == "nearest") {
    return {{std::clamp<std::int64_t>(nearest(rule, coordinate, size.scale), 0, size.input - 1), 1.0}};
  }
  if (rule.mode == "linear_onnx") return linear_onnx_taps(coordinate, size.input);
  if (rule.mode == "linear") return linear_taps(rule, coordinate, size);
  return cubic_taps(rule, coordinate, size.input);
}

}  // namespace

InterpolateAxis make_interpolate_axis(const InterpolateRule& rule, std::size_t axis, const InterpolateSize& size) {
  std::vector<Taps> rows;
  InterpolateAxis result;
  result.axis = axis;
  for (std::int64_t x = 0; x < size.output; ++x) {
    rows.push_back(taps_of(rule, size, x));
    for (InterpolateTap& tap : rows.back()) {
      tap.index -= size.pad_begin;
      if (tap.index < 0 || tap.index >= size.unpadded) tap = {0, 0.0};
    }
    std::erase_if(rows.back(), [](const InterpolateTap& tap) { return tap.weight == 0; });
    result.taps = std::max(result.taps, static_cast<std::int64_t>(rows.back().size()));
  }
  for (Taps& row : rows) {
    // Short rows repeat an element that they read anyway, with weight 0.
    row.resize(static_cast<std::size_t>(result.taps), {row.empty() ? 0 : row.front().index, 0.0});
    result.table.insert(result.table.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace headrace
