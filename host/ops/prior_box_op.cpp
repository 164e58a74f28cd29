// SPDX-License-Identifier: Apache-2.0
// PriorBox and PriorBoxClustered: the default boxes of SSD for each element of a feature map, relative to the picture,
// and their variances behind them: [2, boxes * 4]. Source: SSD (Liu 2016) and OpenVINO's operator specification.
#include <algorithm>
#include <cmath>

#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"PriorBox", "PriorBoxClustered"};

Attributes parse(std::string_view type, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  attributes.set("clip", parse_bool(raw, "clip", type == "PriorBoxClustered"));
  attributes.set("offset", parse_double(raw, "offset"));
  attributes.set("variance", parse_doubles(raw, "variance", {}));
  attributes.set("step", parse_double(raw, "step", 0));
  if (type == "PriorBoxClustered") {
    attributes.set("width", parse_doubles(raw, "width", {1}));
    attributes.set("height", parse_doubles(raw, "height", {1}));
    attributes.set("step_w", parse_double(raw, "step_w", 0));
    attributes.set("step_h", parse_double(raw, "step_h", 0));
    return attributes;
  }
  for (const char* name : {"min_size", "max_size", "aspect_ratio", "density", "fixed_ratio", "fixed_size"}) {
    attributes.set(name, parse_doubles(raw, name, {}));
  }
  attributes.set("flip", parse_bool(raw, "flip", false));
  attributes.set("scale_all_sizes", parse_bool(raw, "scale_all_sizes", true));
  if (opset >= 8) {
    attributes.set("min_max_aspect_ratios_order", parse_bool(raw, "min_max_aspect_ratios_order", true));
  }
  return attributes;
}

// 1, then the given ratios without repetition, each with its reciprocal where the boxes are flipped.
std::vector<double> ratios_of(const Node& node) {
  constexpr double kSame = 1e-6;
  std::vector<double> ratios = {1};
  for (const double ratio : node.attributes.get_doubles("aspect_ratio")) {
    const bool is_known =
        std::any_of(ratios.begin(), ratios.end(), [&](double known) { return std::fabs(ratio - known) < kSame; });
    if (is_known) continue;
    ratios.push_back(ratio);
    if (node.attributes.get_bool("flip")) ratios.push_back(1 / ratio);
  }
  return ratios;
}

// Half the size of a box and the place of its centre beside the element's, in pixels.
struct Box {
  double half_width = 0, half_height = 0;
  double shift_x = 0, shift_y = 0;
  bool is_clipped = false;
};

// density x density boxes, evenly over the square of side `size`. Sides, their halves and the steps are whole pixels,
// as in Caffe's layer.
void add_dense(std::vector<Box>& boxes, double given_size, double density, double ratio) {
  const double size = std::trunc(given_size);
  const auto count = static_cast<std::int64_t>(density);
  const double step = std::trunc(size / static_cast<double>(count));
  const double first = step / 2 - std::trunc(size / 2);
  const double root = std::sqrt(ratio);
  for (std::int64_t i = 0; i < count * count; ++i) {
    const double x = first + static_cast<double>(i % count) * step;
    const double y = first + static_cast<double>(i / count) * step;
    boxes.push_back({size / 2 * root, size / 2 / root, x, y, true});
  }
}

void add_fixed_boxes(const Node& node, std::vector<Box>& boxes) {
  const std::vector<double>& sizes = node.attributes.get_doubles("fixed_size");
  const std::vector<double>& densities = node.attributes.get_doubles("density");
  const std::vector<double>& fixed_ratios = node.attributes.get_doubles("fixed_ratio");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double density = i < densities.size() ? densities[i] : 1;
    if (!fixed_ratios.empty()) {
      for (const double ratio : fixed_ratios) add_dense(boxes, sizes[i], density, ratio);
      continue;
    }
    for (const double ratio : ratios_of(node)) add_dense(boxes, sizes[i], density, ratio);
  }
}

void add_ratio_boxes(const Node& node, std::vector<Box>& boxes, double size) {
  const std::vector<double> ratios = ratios_of(node);
  for (std::size_t i = 1; i < ratios.size(); ++i) {
    const double root = std::sqrt(ratios[i]);
    boxes.push_back({size / 2 * root, size / 2 / root});
  }
}

// `factor` makes pixels of relative sizes.
std::vector<Box> boxes_of(const Node& node, double factor) {
  std::vector<Box> boxes;
  add_fixed_boxes(node, boxes);
  const std::vector<double>& least = node.attributes.get_doubles("min_size");
  const std::vector<double>& most = node.attributes.get_doubles("max_size");
  const bool scales_all = node.attributes.get_bool("scale_all_sizes");
  const bool has_max_first =
      !node.attributes.has("min_max_aspect_ratios_order") || node.attributes.get_bool("min_max_aspect_ratios_order");
  for (std::size_t i = 0; i < least.size(); ++i) {
    const double size = least[i] * factor;
    boxes.push_back({size / 2, size / 2});
    const auto add_max = [&] {
      if (i >= most.size() || !scales_all) return;
      const double mean = std::sqrt(size * most[i]) / 2;
      boxes.push_back({mean, mean});
    };
    if (has_max_first) add_max();
    if (scales_all || i + 1 == least.size()) add_ratio_boxes(node, boxes, scales_all ? size : least[0] * factor);
    if (!has_max_first) add_max();
  }
  return boxes;
}

std::vector<Box> clustered_boxes(const Node& node) {
  const std::vector<double>& widths = node.attributes.get_doubles("width");
  const std::vector<double>& heights = node.attributes.get_doubles("height");
  if (widths.size() != heights.size()) {
    fail_node(node,
              "has " + std::to_string(widths.size()) + " widths and " + std::to_string(heights.size()) + " heights");
  }
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < widths.size(); ++i) boxes.push_back({widths[i] / 2, heights[i] / 2});
  return boxes;
}

// Feature map and picture.
struct Sizes {
  std::int64_t height = 0, width = 0;
  double picture_height = 0, picture_width = 0;
};

void check_attributes(const Node& node) {
  constexpr std::size_t kMostValues = 1024;
  constexpr double kMostDensity = 64;
  const std::size_t variances = node.attributes.get_doubles("variance").size();
  if (variances > 1 && variances != 4) fail_node(node, "has " + std::to_string(variances) + " variances, not 1 or 4");
  for (const auto& [name, value] : node.attributes.values()) {
    const auto* list = std::get_if<std::vector<double>>(&value);
    if (list == nullptr) continue;
    if (list->size() > kMostValues) fail_node(node, "has " + std::to_string(list->size()) + " values of " + name);
    for (const double number : *list) {
      const bool is_bad = !std::isfinite(number) || number <= 0 || (name == "density" && number > kMostDensity) ||
                          (name == "density" && number < 1);
      if (is_bad) fail_node(node, "has " + std::to_string(number) + " among its values of " + name);
    }
  }
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 2, 2);
  check_attributes(node);
  const std::vector<std::int64_t> map = ints_at(values_of(inputs), 0);
  check_shape(node, inputs[1].shape, {2}, "picture size");
  if (map.size() != 2 || map[0] < 0 || map[1] < 0) fail_node(node, "needs two sizes of the feature map");
  const std::size_t boxes = (node.type == "PriorBox" ? boxes_of(node, 1) : clustered_boxes(node)).size();
  return {{ElementType::f32, {2, count_elems({map[0], map[1], static_cast<std::int64_t>(boxes), 4})}}};
}

// Steps between the elements' centres, in pixels.
struct Steps {
  double x = 0, y = 0;
};

Steps steps_of(const Node& node, const Sizes& sizes) {
  const double step = node.attributes.get_double("step");
  const double natural_x = sizes.picture_width / static_cast<double>(sizes.width);
  const double natural_y = sizes.picture_height / static_cast<double>(sizes.height);
  if (node.type == "PriorBoxClustered") {
    const double x = node.attributes.get_double("step_w");
    const double y = node.attributes.get_double("step_h");
    if (x != 0 || y != 0) return {x != 0 ? x : natural_x, y != 0 ? y : natural_y};
    return {step != 0 ? step : natural_x, step != 0 ? step : natural_y};
  }
  if (!node.attributes.get_bool("scale_all_sizes")) {  // sizes relative to the picture, as MXNet has them
    const double relative = step == -1 ? 1 / static_cast<double>(sizes.height) : step;
    if (relative != 0) return {relative * sizes.picture_height, relative * sizes.picture_height};
  }
  return {step != 0 ? step : natural_x, step != 0 ? step : natural_y};
}

void write_boxes(const Node& node, const Sizes& sizes, std::span<float> to) {
  const bool is_prior = node.type == "PriorBox";
  const bool is_relative = is_prior && !node.attributes.get_bool("scale_all_sizes");
  const std::vector<Box> boxes =
      is_prior ? boxes_of(node, is_relative ? sizes.picture_height : 1) : clustered_boxes(node);
  const Steps steps = steps_of(node, sizes);
  // Without a step an element's centre is its middle.
  const double offset =
      is_prior && node.attributes.get_double("step") == 0 ? 0.5 : node.attributes.get_double("offset");
  const bool clips_all = node.attributes.get_bool("clip");
  std::size_t i = 0;
  for (std::int64_t place = 0; place < sizes.height * sizes.width; ++place) {
    const double x = (static_cast<double>(place % sizes.width) + offset) * steps.x;
    const double y = (static_cast<double>(place / sizes.width) + offset) * steps.y;
    for (const Box& box : boxes) {
      const double corners[] = {(x + box.shift_x - box.half_width) / sizes.picture_width,
                                (y + box.shift_y - box.half_height) / sizes.picture_height,
                                (x + box.shift_x + box.half_width) / sizes.picture_width,
                                (y + box.shift_y + box.half_height) / sizes.picture_height};
      const bool clips = clips_all || box.is_clipped;
      for (const double corner : corners) to[i++] = static_cast<float>(clips ? std::clamp(corner, 0.0, 1.0) : corner);
    }
  }
}

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  constexpr float kDefaultVariance = 0.1F;
  const std::vector<std::int64_t> map = to_int64s(inputs[0]);
  const std::vector<double> picture = to_doubles(inputs[1]);
  const std::span<float> all = outputs[0].mutable_values<float>();
  const std::size_t half = all.size() / 2;
  if (half == 0) return;
  write_boxes(node, {map[0], map[1], picture[0], picture[1]}, all.first(half));
  const std::vector<double>& variance = node.attributes.get_doubles("variance");
  for (std::size_t i = 0; i < half; ++i) {
    all[half + i] = variance.empty() ? kDefaultVariance : static_cast<float>(variance[i % variance.size()]);
  }
}

}  // namespace

const OpDescriptor& prior_box_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
