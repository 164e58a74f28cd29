// SPDX-License-Identifier: Apache-2.0
// GridSample: reads a picture at the places that a grid names.
//
// data [N, C, H, W], grid [N, OH, OW, 2] with x, y in [-1, 1]: result [N, C, OH, OW]. Cubic weights have a = -0.75.
#include <array>
#include <cmath>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"GridSample"};

Attributes parse(std::string_view, std::int32_t, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("align_corners", parse_bool(raw, "align_corners", false));
  attributes.set("mode", parse_enum(raw, "mode", "bilinear", {"bilinear", "bicubic", "nearest"}));
  attributes.set("padding_mode", parse_enum(raw, "padding_mode", "zeros", {"zeros", "border", "reflection"}));
  return attributes;
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  check_float_type(node, inputs, 1, "grid");
  const Shape& data = inputs[0].shape;
  const Shape& grid = inputs[1].shape;
  check_rank(node, data, 4, "data");
  check_shape(node, grid, {data[0], grid.size() > 1 ? grid[1] : 0, grid.size() > 2 ? grid[2] : 0, 2}, "grid");
  return {{inputs[0].type, {data[0], data[1], grid[1], grid[2]}}};
}

enum class Padding { kZeros, kBorder, kReflection };

struct Sampler {
  Padding padding = Padding::kZeros;
  bool aligns_corners = false;

  // The element that place `at` of an axis reads, or -1 for a zero.
  std::int64_t element_at(double at, std::int64_t size) const {
    const auto last = static_cast<double>(size - 1);
    if (padding == Padding::kBorder) at = at < 0 ? 0 : (at > last ? last : at);
    if (padding == Padding::kReflection) {
      // Mirrored at the centres of the outer elements, or at their outer edges.
      const double period = aligns_corners ? std::fmax(2 * last, 1) : 2 * static_cast<double>(size);
      at = std::fmod(std::fabs(aligns_corners ? at : at + 0.5), period) - (aligns_corners ? 0 : 0.5);
      if (at > last) at = aligns_corners ? period - at : period - 1 - at;
    }
    return at >= 0 && at <= last ? static_cast<std::int64_t>(at) : -1;  // NaN and infinities read zero
  }

  double place_of(double coordinate, std::int64_t size) const {
    const auto full = static_cast<double>(size);
    return aligns_corners ? (coordinate + 1) / 2 * (full - 1) : ((coordinate + 1) * full - 1) / 2;
  }
};

// Up to four taps along an axis with their weights.
struct Taps {
  std::array<std::int64_t, 4> elements{};
  std::array<double, 4> weights{};
  std::size_t count = 0;

  void add(std::int64_t element, double weight) {
    elements[count] = element;
    weights[count++] = weight;
  }
};

double cubic_weight(double distance) {
  constexpr double kA = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * kA - 4 * kA : 0;
}

Taps taps_of(const Sampler& sampler, const std::string& mode, double coordinate, std::int64_t size) {
  const double place = sampler.place_of(coordinate, size);
  Taps taps;
  if (mode == "nearest") {
    taps.add(sampler.element_at(std::nearbyint(place), size), 1);
    return taps;
  }
  const double low = std::floor(place);
  if (mode == "bilinear") {
    taps.add(sampler.element_at(low, size), 1 - (place - low));
    taps.add(sampler.element_at(low + 1, size), place - low);
    return taps;
  }
  for (const double step : {-1.0, 0.0, 1.0, 2.0}) {
    taps.add(sampler.element_at(low + step, size), cubic_weight(low + step - place));
  }
  return taps;
}

double sample(const Tensor& data, std::int64_t plane, std::int64_t width, const Taps& x, const Taps& y) {
  double sum = 0;
  for (std::size_t i = 0; i < y.count; ++i) {
    if (y.elements[i] < 0) continue;
    for (std::size_t j = 0; j < x.count; ++j) {
      if (x.elements[j] < 0) continue;
      sum += y.weights[i] * x.weights[j] * real_at(data, plane + y.elements[i] * width + x.elements[j]);
    }
  }
  return sum;
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Shape& data = inputs[0].shape();
  const std::string& mode = node.attributes.get_string("mode");
  const std::string& padding = node.attributes.get_string("padding_mode");
  const Sampler sampler{padding == "zeros"    ? Padding::kZeros
                        : padding == "border" ? Padding::kBorder
                                              : Padding::kReflection,
                        node.attributes.get_bool("align_corners")};
  const std::int64_t channels = data[1];
  const std::int64_t points = outputs[0].shape()[2] * outputs[0].shape()[3];
  for (std::int64_t n = 0; n < data[0]; ++n) {
    for (std::int64_t p = 0; p < points; ++p) {
      const Taps x = taps_of(sampler, mode, real_at(inputs[1], (n * points + p) * 2), data[3]);
      const Taps y = taps_of(sampler, mode, real_at(inputs[1], (n * points + p) * 2 + 1), data[2]);
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t plane = (n * channels + c) * data[2] * data[3];
        set_real(outputs[0], (n * channels + c) * points + p, sample(inputs[0], plane, data[3], x, y));
      }
    }
  }
}

}  // namespace

const OpDescriptor& grid_sample_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
