// SPDX-License-Identifier: Apache-2.0
// Resizing of pictures, [N, H, W, C] in every case. Places and weights are TensorFlow's own
// (tensorflow/core/kernels/image), floats included: a place that misses a whole number by an ulp picks another pixel.
#include <algorithm>
#include <cmath>

#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

struct Rule {
  bool has_aligned_corners = false;
  bool has_half_pixels = false;
};

Rule rule_of(const TensorflowContext& c) {
  const Rule rule{c.attr_bool("align_corners", false), c.attr_bool("half_pixel_centers", false)};
  if (rule.has_aligned_corners && rule.has_half_pixels) {
    fail(ErrorCode::kBadModel, "has both align_corners and half_pixel_centers");
  }
  return rule;
}

float scale_of(const Rule& rule, std::int64_t in, std::int64_t out) {
  if (rule.has_aligned_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

// Sizes that TensorFlow's kernels take.
void check_size(std::int64_t size) {
  if (size < 1 || size > 1 << 24) fail(ErrorCode::kBadModel, "resizes to " + text(size));
}

Ints nearest_places(const Rule& rule, std::int64_t in, std::int64_t out) {
  const float scale = scale_of(rule, in, out);
  Ints places;
  for (std::int64_t i = 0; i < out; ++i) {
    const float half = rule.has_half_pixels ? 0.5F : 0.0F;
    const float place = (static_cast<float>(i) + half) * scale;
    const auto index = static_cast<std::int64_t>(rule.has_aligned_corners ? std::round(place) : std::floor(place));
    places.push_back(std::clamp<std::int64_t>(index, 0, in - 1));
  }
  return places;
}

// Whether an integer factor repeats every pixel, which Interpolate does as well.
bool is_repeat(const Ints& places, std::int64_t in) {
  const auto out = static_cast<std::int64_t>(places.size());
  for (std::int64_t i = 0; i < out; ++i) {
    if (out % in != 0 || places[static_cast<std::size_t>(i)] != i / (out / in)) return false;
  }
  return true;
}

PortRef interpolate(TensorflowContext& c, PortRef sizes, const RawAttributes& mode) {
  RawAttributes attributes = {{"shape_calculation_mode", "sizes"},
                              {"antialias", "false"},
                              {"nearest_mode", "floor"},
                              {"cube_coeff", "-0.75"},
                              {"pads_begin", "0"},
                              {"pads_end", "0"}};
  for (const auto& [name, value] : mode) attributes[name] = value;
  const PortRef x = c.transpose(c.input(0), {0, 3, 1, 2});
  const PortRef y =
      c.add("Interpolate", 11, {x, c.convert(sizes, ElementType::i64), c.constant_ints({2, 3})}, attributes);
  return c.transpose(y, {0, 2, 3, 1});
}

TensorflowValues convert_nearest(TensorflowContext& c) {
  const Rule rule = rule_of(c);
  const std::string coordinates = rule.has_aligned_corners ? "align_corners"
                                  : rule.has_half_pixels   ? "tf_half_pixel_for_nn"
                                                           : "asymmetric";
  const RawAttributes mode = {{"mode", "nearest"},
                              {"coordinate_transformation_mode", coordinates},
                              {"nearest_mode", rule.has_aligned_corners ? "round_prefer_ceil" : "floor"}};
  const auto sizes = c.ints(c.input(1));
  const auto height = c.static_dim(c.input(0), 1);
  const auto width = c.static_dim(c.input(0), 2);
  if (!sizes || sizes->size() != 2 || !height || !width) return {interpolate(c, c.input(1), mode)};
  for (const std::int64_t size : {(*sizes)[0], (*sizes)[1], *height, *width}) check_size(size);
  const Ints rows = nearest_places(rule, *height, (*sizes)[0]);
  const Ints columns = nearest_places(rule, *width, (*sizes)[1]);
  if (is_repeat(rows, *height) && is_repeat(columns, *width)) {
    return {interpolate(
        c, c.input(1),
        {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}})};
  }
  return {c.gather(c.gather(c.input(0), c.constant_ints(rows), 1), c.constant_ints(columns), 2)};
}

// The result is f32 whatever the picture is.
TensorflowValues convert_bilinear(TensorflowContext& c) {
  if (c.element_type(c.input(0)) != ElementType::f32) c.refuse("pictures of another type than DT_FLOAT");
  const Rule rule = rule_of(c);
  const std::string coordinates = rule.has_aligned_corners ? "align_corners"
                                  : rule.has_half_pixels   ? "half_pixel"
                                                           : "asymmetric";
  return {interpolate(c, c.input(1), {{"mode", "linear_onnx"}, {"coordinate_transformation_mode", coordinates}})};
}

// Keys' cubic; TensorFlow looks weights up in a table of 1024 steps.
constexpr std::int64_t kSteps = 1024;

double near_weight(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double far_weight(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

// The matrix [out, in] that resizes one axis. With half pixels a is -0.5 and pixels outside count nothing; without, a
// is -0.75 and the edges repeat.
std::vector<float> cubic_matrix(const Rule& rule, std::int64_t in, std::int64_t out) {
  const float scale = scale_of(rule, in, out);
  const double a = rule.has_half_pixels ? -0.5 : -0.75;
  std::vector<float> matrix(static_cast<std::size_t>(in * out), 0.0F);
  for (std::int64_t i = 0; i < out; ++i) {
    const float place =
        rule.has_half_pixels ? (static_cast<float>(i) + 0.5F) * scale - 0.5F : static_cast<float>(i) * scale;
    const auto below = static_cast<std::int64_t>(std::floor(place));
    const auto step = std::lrint((place - static_cast<float>(below)) * static_cast<float>(kSteps));
    const double x = static_cast<double>(step) / static_cast<double>(kSteps);
    const double weights[] = {far_weight(x + 1, a), near_weight(x, a), near_weight(1 - x, a), far_weight(2 - x, a)};
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t pixel = below - 1 + k;
      if (!rule.has_half_pixels || (pixel >= 0 && pixel < in)) sum += weights[k];
    }
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t pixel = below - 1 + k;
      if (rule.has_half_pixels && (pixel < 0 || pixel >= in)) continue;
      const double weight =
          rule.has_half_pixels && std::abs(sum) >= 1000 * 1.17549435e-38 ? weights[k] / sum : weights[k];
      matrix[static_cast<std::size_t>(i * in + std::clamp<std::int64_t>(pixel, 0, in - 1))] +=
          static_cast<float>(weight);
    }
  }
  return matrix;
}

// Rows and columns by a matrix each.
TensorflowValues convert_bicubic(TensorflowContext& c) {
  if (c.element_type(c.input(0)) != ElementType::f32) c.refuse("pictures of another type than DT_FLOAT");
  const Rule rule = rule_of(c);
  const Ints sizes = c.need_ints(c.input(1), "size");
  const Ints from = {c.dim(c.input(0), 1), c.dim(c.input(0), 2)};
  if (sizes.size() != 2) fail(ErrorCode::kBadModel, "its size is " + to_string(sizes));
  constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 24;
  for (std::size_t i = 0; i < 2; ++i) {
    check_size(sizes[i]);
    check_size(from[i]);
    if (sizes[i] * from[i] > kMaxMatrix) c.refuse("sizes " + to_string(from) + " to " + to_string(sizes));
  }
  const PortRef rows = c.constant(make_f32_tensor({sizes[0], from[0]}, cubic_matrix(rule, from[0], sizes[0])));
  const PortRef columns = c.constant(make_f32_tensor({sizes[1], from[1]}, cubic_matrix(rule, from[1], sizes[1])));
  const PortRef x = c.transpose(c.input(0), {0, 3, 1, 2});
  const PortRef wide = c.add("MatMul", 1, {x, columns}, {{"transpose_b", "true"}});  // [N, C, H, OW]
  return {c.transpose(c.binary("MatMul", rows, wide), {0, 2, 3, 1})};
}

constexpr TensorflowConverter kConverters[] = {
    {"ResizeNearestNeighbor", convert_nearest},
    {"ResizeBilinear", convert_bilinear},
    {"ResizeBicubic", convert_bicubic},
};

}  // namespace

std::span<const TensorflowConverter> resize_tensorflow() { return kConverters; }

}  // namespace headrace::detail
