// SPDX-License-Identifier: Apache-2.0
// DetectionOutput: SSD's last layer. Decodes boxes, drops those that overlap better ones, lists the best.
//
// Result [1, 1, M, 7] with rows (image, label, score, x1, y1, x2, y2); behind the last row image is -1 once, the rest
// 0. Source: SSD (Liu 2016) and its Caffe and MXNet layers, as OpenVINO's operator specification has them.
#include <algorithm>
#include <map>

#include "ops/checks.hpp"
#include "ops/detection_boxes.hpp"
#include "ops/elementwise.hpp"
#include "ops/move.hpp"
#include "ops/strided.hpp"

namespace headrace {
namespace {

constexpr std::string_view kTypes[] = {"DetectionOutput"};
constexpr std::int64_t kRow = 7;

Attributes parse(std::string_view, std::int32_t opset, const RawAttributes& raw) {
  Attributes attributes;
  if (opset < 8) attributes.set("num_classes", parse_int(raw, "num_classes"));
  attributes.set("background_label_id", parse_int(raw, "background_label_id", 0));
  attributes.set("top_k", parse_int(raw, "top_k", -1));
  attributes.set("keep_top_k", parse_ints(raw, "keep_top_k"));
  attributes.set("code_type", parse_enum(raw, "code_type", "caffe.PriorBoxParameter.CORNER",
                                         {"caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"}));
  attributes.set("nms_threshold", parse_double(raw, "nms_threshold"));
  attributes.set("confidence_threshold", parse_double(raw, "confidence_threshold", 0));
  for (const char* name :
       {"variance_encoded_in_target", "clip_after_nms", "clip_before_nms", "decrease_label_id", "normalized"}) {
    attributes.set(name, parse_bool(raw, name, false));
  }
  attributes.set("share_location", parse_bool(raw, "share_location", true));
  attributes.set("input_height", parse_int(raw, "input_height", 1));
  attributes.set("input_width", parse_int(raw, "input_width", 1));
  attributes.set("objectness_score", parse_double(raw, "objectness_score", 0));
  return attributes;
}

DetectionForm form_of(const Node& node, const Shape& boxes, const Shape& scores, const Shape& priors) {
  check_rank(node, boxes, 2, "box logits");
  check_rank(node, scores, 2, "class predictions");
  check_rank(node, priors, 3, "proposals");
  DetectionForm form;
  form.images = boxes[0];
  form.prior_size = node.attributes.get_bool("normalized") ? 4 : 5;
  form.prior_images = priors[0];
  form.has_variances = !node.attributes.get_bool("variance_encoded_in_target");
  form.priors = priors[2] / form.prior_size;
  if (form.priors < 1 || priors[2] % form.prior_size != 0 || (priors[0] != 1 && priors[0] != form.images) ||
      priors[1] != (form.has_variances ? 2 : 1)) {
    fail_node(node, "has proposals of shape " + to_string(priors));
  }
  form.classes = scores[1] / form.priors;
  check_shape(node, scores, {form.images, form.priors * form.classes}, "class predictions");
  if (node.attributes.has("num_classes") && node.attributes.get_int("num_classes") != form.classes) {
    fail_node(node, "has num_classes " + std::to_string(node.attributes.get_int("num_classes")) + ", its inputs " +
                        std::to_string(form.classes));
  }
  form.locations = node.attributes.get_bool("share_location") ? 1 : form.classes;
  check_shape(node, boxes, {form.images, count_elems({form.priors, form.locations, 4})}, "box logits");
  return form;
}

std::int64_t keep_limit(const Node& node) {
  const std::vector<std::int64_t>& keep = node.attributes.get_ints("keep_top_k");
  if (keep.empty()) fail_node(node, "has an empty keep_top_k");
  return keep[0];
}

std::vector<InferOutput> infer(const Node& node, std::span<const InferInput> inputs) {
  check_input_count(node, inputs.size(), 3, 5);
  if (inputs.size() == 4) fail_node(node, "has 4 inputs, expected 3 or 5");
  check_float_type(node, inputs, 0, "box logits");
  for (std::size_t i = 1; i < inputs.size(); ++i) check_same_types(node, inputs, {0, i});
  const DetectionForm form = form_of(node, inputs[0].shape, inputs[1].shape, inputs[2].shape);
  if (inputs.size() == 5) {
    check_shape(node, inputs[3].shape, {form.images, 2 * form.priors}, "auxiliary class predictions");
    check_shape(node, inputs[4].shape, inputs[0].shape, "auxiliary box predictions");
  }
  const std::int64_t keep = keep_limit(node);
  const std::int64_t top = node.attributes.get_int("top_k");
  const std::int64_t per_image = keep > 0 ? keep : count_elems({top > 0 ? top : form.priors, form.classes});
  return {{inputs[0].type, {1, 1, count_elems({form.images, per_image}), kRow}}};
}

// A box of one class that is left, by the number of its prior.
struct Candidate {
  double score = 0;
  std::int64_t label = 0;
  std::int64_t prior = 0;
};

bool is_better(const Candidate& a, const Candidate& b) { return a.score > b.score; }

class Detection {
 public:
  Detection(const Node& node, std::span<const Tensor> inputs)
      : node_(node),
        boxes_(node, form_of(node, inputs[0].shape(), inputs[1].shape(), inputs[2].shape()), inputs),
        threshold_(node.attributes.get_double("nms_threshold")) {}

  std::int64_t images() const { return boxes_.form().images; }

  // By label, then as suppression left them.
  std::vector<Candidate> run(std::int64_t image) const {
    std::vector<Candidate> left =
        node_.attributes.get_bool("decrease_label_id") ? best_class_each(image) : each_class(image);
    const std::int64_t keep = keep_limit(node_);
    if (keep > 0 && static_cast<std::int64_t>(left.size()) > keep) {
      std::stable_sort(left.begin(), left.end(), is_better);
      left.resize(static_cast<std::size_t>(keep));
    }
    std::stable_sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
    return left;
  }

  DetectionBox box(std::int64_t image, const Candidate& candidate) const {
    return boxes_.box(image, candidate.prior, candidate.label);
  }

 private:
  void take_top(std::vector<Candidate>& candidates) const {
    std::stable_sort(candidates.begin(), candidates.end(), is_better);
    const std::int64_t top = node_.attributes.get_int("top_k");
    if (top > -1 && static_cast<std::int64_t>(candidates.size()) > top)
      candidates.resize(static_cast<std::size_t>(top));
  }

  // Keeps those that overlap none of the kept ones of their label too far.
  std::vector<Candidate> suppressed(std::int64_t image, const std::vector<Candidate>& candidates) const {
    std::map<std::int64_t, std::vector<DetectionBox>> kept_boxes;
    std::vector<Candidate> kept;
    for (const Candidate& candidate : candidates) {
      const DetectionBox own = box(image, candidate);
      std::vector<DetectionBox>& others = kept_boxes[candidate.label];
      const bool is_covered = std::any_of(others.begin(), others.end(), [&](const DetectionBox& other) {
        return box_overlap(own, other) > threshold_;
      });
      if (is_covered) continue;
      others.push_back(own);
      kept.push_back(candidate);
    }
    return kept;
  }

  // Caffe's way: every class but the background looks at all priors.
  std::vector<Candidate> each_class(std::int64_t image) const {
    std::vector<Candidate> all;
    for (std::int64_t label = 0; label < boxes_.form().classes; ++label) {
      if (label == node_.attributes.get_int("background_label_id")) continue;
      std::vector<Candidate> candidates;
      for (std::int64_t prior = 0; prior < boxes_.form().priors; ++prior) {
        const double score = boxes_.score(image, prior, label);
        if (score > node_.attributes.get_double("confidence_threshold")) candidates.push_back({score, label, prior});
      }
      take_top(candidates);
      const std::vector<Candidate> kept = suppressed(image, candidates);
      all.insert(all.end(), kept.begin(), kept.end());
    }
    return all;
  }

  // MXNet's way: every prior stands for its best class only; class 0 is the background.
  std::vector<Candidate> best_class_each(std::int64_t image) const {
    std::vector<Candidate> candidates;
    for (std::int64_t prior = 0; prior < boxes_.form().priors; ++prior) {
      Candidate best{-1, 0, prior};
      for (std::int64_t label = 1; label < boxes_.form().classes; ++label) {
        const double score = boxes_.score(image, prior, label);
        if (score > best.score) best = {score, label, prior};
      }
      if (best.label > 0 && best.score >= node_.attributes.get_double("confidence_threshold"))
        candidates.push_back(best);
    }
    take_top(candidates);
    return suppressed(image, candidates);
  }

  const Node& node_;
  DetectionBoxes boxes_;
  double threshold_;
};

void reference(const Node& node, std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  const Detection detection(node, inputs);
  const bool clips = node.attributes.get_bool("clip_after_nms");
  const std::int64_t rows = outputs[0].shape()[2];
  const std::int64_t decrease = node.attributes.get_bool("decrease_label_id") ? 1 : 0;
  std::fill_n(outputs[0].mutable_data(), outputs[0].size_bytes(), std::byte{0});
  std::int64_t row = 0;
  for (std::int64_t image = 0; image < detection.images(); ++image) {
    for (const Candidate& candidate : detection.run(image)) {
      if (row == rows) return;
      const DetectionBox box = detection.box(image, candidate);
      const double values[] = {static_cast<double>(image),
                               static_cast<double>(candidate.label - decrease),
                               candidate.score,
                               box.x1,
                               box.y1,
                               box.x2,
                               box.y2};
      for (std::int64_t k = 0; k < kRow; ++k) {
        const double value = values[k];
        set_real(outputs[0], row * kRow + k, clips && k > 2 ? std::clamp(value, 0.0, 1.0) : value);
      }
      ++row;
    }
  }
  if (row < rows) set_real(outputs[0], row * kRow, -1);
}

}  // namespace

const OpDescriptor& detection_output_op() {
  static constexpr OpDescriptor op = {.types = kTypes, .parse = parse, .infer = infer, .reference = reference};
  return op;
}

}  // namespace headrace
