// SPDX-License-Identifier: Apache-2.0
// Proposal: Faster R-CNN's regions out of anchors, scores and deltas: [N * post, 5] = (image, x1, y1, x2, y2), and
// their scores. Source: Ren 2015 and its Caffe layer, as OpenVINO's operator specification has it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/box_overlap.hpp"
#include "ops/checks.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"Proposal"};

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  for (const char* name : {"base_size", "pre_nms_topn", "post_nms_topn", "feat_stride", "min_size"}) {
    attributes.set(name, parse_int(raw, name));
  }
  attributes.set("nms_thresh", parse_double(raw, "nms_thresh"));
  attributes.set("ratio", parse_doubles(raw, "ratio", {}));
  attributes.set("scale", parse_doubles(raw, "scale", {}));
  attributes.set("clip_before_nms", parse_bool(raw, "clip_before_nms", true));
  attributes.set("clip_after_nms", parse_bool(raw, "clip_after_nms", false));
  attributes.set("normalize", parse_bool(raw, "normalize", false));
  attributes.set("box_size_scale", parse_double(raw, "box_size_scale", 1));
  attributes.set("box_coordinate_scale", parse_double(raw, "box_coordinate_scale", 1));
  attributes.set("framework", parse_enum(raw, "framework", "", {"", "tensorflow"}));
  if (opset < 4) attributes.set("infer_probs", parse_bool(raw, "infer_probs", false));
  return attributes;
}

bool is_tensorflow(const Node& node) { return node.attributes.get_string("framework") == "tensorflow"; }

// Caffe's corners are pixels that belong to the box, TensorFlow's are places.
double unit_of(const Node& node) { return is_tensorflow(node) ? 0 : 1; }

std::int64_t count_anchors(const Node& node) {
  return static_cast<std::int64_t>(node.attributes.get_doubles("ratio").size() *
                                   node.attributes.get_doubles("scale").size());
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  check_input_count(node, inputs.size(), 3, 3);
  check_float_type(node, inputs, 0, "class probabilities");
  check_same_types(node, inputs, {0, 1, 2});
  const Shape& scores = inputs[0].shape;
  check_rank(node, scores, 4, "class probabilities");
  const std::int64_t anchors = count_anchors(node);
  check_shape(node, scores, {scores[0], 2 * anchors, scores[2], scores[3]}, "class probabilities");
  check_shape(node, inputs[1].shape, {scores[0], 4 * anchors, scores[2], scores[3]}, "box deltas");
  const std::int64_t sizes = count_elems(inputs[2].shape);
  if (sizes != 3 && sizes != 4)
    fail_node(node, "needs 3 or 4 values of the picture's size, has " + std::to_string(sizes));
  for (const char* name : {"pre_nms_topn", "post_nms_topn", "base_size", "feat_stride"}) {
    const std::int64_t value = node.attributes.get_int(name);
    if (value < 1 || value > kMost) fail_node(node, "has " + std::string(name) + " " + std::to_string(value));
  }
  const std::int64_t regions = count_elems({scores[0], node.attributes.get_int("post_nms_topn")});
  const InferOutput boxes{inputs[0].type, {regions, 5}};
  // Before opset 4 the scores are an output only where they are asked for.
  const bool has_scores = node.opset >= 4 || node.attributes.get_bool("infer_probs") || node.outputs.size() > 1;
  if (!has_scores) return {boxes};
  return {boxes, {inputs[0].type, {regions}}};
}

std::vector<DetectionBox> anchors_of(const Node& node) {
  const auto base = static_cast<double>(node.attributes.get_int("base_size"));
  const double unit = unit_of(node);
  const double center = is_tensorflow(node) ? 0 : (base - unit) / 2;
  std::vector<DetectionBox> anchors;
  for (const double ratio : node.attributes.get_doubles("ratio")) {
    const double exact = std::sqrt(base * base / ratio);
    const double width = is_tensorflow(node) ? exact : std::round(exact);
    const double height = is_tensorflow(node) ? width * ratio : std::round(width * ratio);
    for (const double scale : node.attributes.get_doubles("scale")) {
      const double half_width = (width * scale - unit) / 2;
      const double half_height = (height * scale - unit) / 2;
      anchors.push_back({center - half_width, center - half_height, center + half_width, center + half_height});
    }
  }
  return anchors;
}

struct Region {
  DetectionBox box;
  double score = 0;
};

class Proposals {
 public:
  Proposals(const Node& node, std::span<const Tensor> inputs)
      : node_(node), inputs_(inputs), anchors_(anchors_of(node)), unit_(unit_of(node)) {
    const std::vector<double> sizes = to_doubles(inputs[2]);
    height_ = sizes[0];
    width_ = sizes[1];
    const auto least = static_cast<double>(node.attributes.get_int("min_size"));
    least_height_ = least * sizes[2];
    least_width_ = least * sizes.back();
    if (!is_tensorflow(node)) return;
    std::swap(height_, width_);  // here all that is called x is TensorFlow's y: its boxes are (y1, x1, y2, x2)
    std::swap(least_height_, least_width_);
  }

  // At most post_nms_topn regions, best first.
  std::vector<Region> run(std::int64_t image) const {
    std::vector<Region> all = candidates(image);
    const auto before = static_cast<std::size_t>(node_.attributes.get_int("pre_nms_topn"));
    std::stable_sort(all.begin(), all.end(), [](const Region& a, const Region& b) { return a.score > b.score; });
    if (all.size() > before) all.resize(before);
    const auto most = static_cast<std::size_t>(node_.attributes.get_int("post_nms_topn"));
    const double threshold = node_.attributes.get_double("nms_thresh");
    std::vector<Region> kept;
    for (const Region& region : all) {
      if (kept.size() == most) break;
      const bool is_covered = std::any_of(kept.begin(), kept.end(), [&](const Region& other) {
        return box_overlap(region.box, other.box, unit_) > threshold;
      });
      if (!is_covered) kept.push_back(region);
    }
    for (Region& region : kept) finish(region.box);
    return kept;
  }

 private:
  // To the picture, of which the last `unit` pixels stay outside.
  DetectionBox clipped(const DetectionBox& box, double unit) const {
    const auto clip = [](double value, double most) { return std::fmax(0, std::fmin(value, most)); };
    return {clip(box.x1, width_ - unit), clip(box.y1, height_ - unit), clip(box.x2, width_ - unit),
            clip(box.y2, height_ - unit)};
  }

  void finish(DetectionBox& box) const {
    if (node_.attributes.get_bool("clip_after_nms")) box = clipped(box, 0);
    if (node_.attributes.get_bool("normalize")) {
      box = {box.x1 / width_, box.y1 / height_, box.x2 / width_, box.y2 / height_};
    }
  }

  std::vector<Region> candidates(std::int64_t image) const {
    const Shape& shape = inputs_[0].shape();
    const auto stride = static_cast<double>(node_.attributes.get_int("feat_stride"));
    const std::int64_t pixels = shape[2] * shape[3];
    const auto count = static_cast<std::int64_t>(anchors_.size());
    std::vector<Region> all;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const double x = static_cast<double>(pixel % shape[3]) * stride;
      const double y = static_cast<double>(pixel / shape[3]) * stride;
      for (std::int64_t a = 0; a < count; ++a) {
        const DetectionBox& anchor = anchors_[static_cast<std::size_t>(a)];
        // The second half of the probabilities is the foreground.
        const double score = real_at(inputs_[0], ((image * 2 + 1) * count + a) * pixels + pixel);
        const double dx = is_tensorflow(node_) ? y : x;
        const double dy = is_tensorflow(node_) ? x : y;
        const DetectionBox moved{anchor.x1 + dx, anchor.y1 + dy, anchor.x2 + dx, anchor.y2 + dy};
        all.push_back(region_of(moved, (image * count + a) * 4 * pixels + pixel, pixels, score));
      }
    }
    return all;
  }

  Region region_of(DetectionBox anchor, std::int64_t deltas, std::int64_t pixels, double score) const {
    const auto delta = [&](std::int64_t k) { return real_at(inputs_[1], deltas + k * pixels); };
    const double place_scale = node_.attributes.get_double("box_coordinate_scale");
    const double size_scale = node_.attributes.get_double("box_size_scale");
    if (is_tensorflow(node_)) anchor = clipped(anchor, unit_);
    const double width = anchor.x2 - anchor.x1 + unit_;
    const double height = anchor.y2 - anchor.y1 + unit_;
    const double x = delta(0) / place_scale * width + anchor.x1 + width / 2;
    const double y = delta(1) / place_scale * height + anchor.y1 + height / 2;
    const double half_width = std::exp(delta(2) / size_scale) * width / 2;
    const double half_height = std::exp(delta(3) / size_scale) * height / 2;
    DetectionBox box{x - half_width, y - half_height, x + half_width, y + half_height};
    if (node_.attributes.get_bool("clip_before_nms")) box = clipped(box, unit_);
    const bool is_large = box.x2 - box.x1 + unit_ >= least_width_ && box.y2 - box.y1 + unit_ >= least_height_;
    return {box, is_large ? score : 0};
  }

  const Node& node_;
  std::span<const Tensor> inputs_;
  std::vector<DetectionBox> anchors_;
  double unit_;
  double height_ = 0, width_ = 0;
  double least_height_ = 0, least_width_ = 0;
};

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Proposals proposals(node, inputs);
  const std::int64_t most = node.attributes.get_int("post_nms_topn");
  for (Tensor& output : outputs) std::fill_n(output.mutable_data(), output.size_bytes(), std::byte{0});
  for (std::int64_t image = 0; image < inputs[0].shape()[0]; ++image) {
    std::int64_t row = image * most;
    for (const Region& region : proposals.run(image)) {
      const double values[] = {static_cast<double>(image), region.box.x1, region.box.y1, region.box.x2, region.box.y2};
      for (std::int64_t k = 0; k < 5; ++k) set_real(outputs[0], row * 5 + k, values[k]);
      if (outputs.size() > 1) set_real(outputs[1], row, region.score);
      ++row;
    }
    if (row < (image + 1) * most) set_real(outputs[0], row * 5, -1);  // marks the end
  }
}

}  // namespace

const OpDescriptor& proposal_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
