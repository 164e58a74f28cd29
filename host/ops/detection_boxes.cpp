// SPDX-License-Identifier: Apache-2.0
#include "ops/detection_boxes.hpp"

#include <algorithm>
#include <cmath>

#include "ops/elementwise.hpp"

namespace headrace {

DetectionBoxes::DetectionBoxes(const Node& node, const DetectionForm& form, std::span<const Tensor> inputs)
    : form_(form),
      inputs_(inputs),
      is_centered_(node.attributes.get_string("code_type").ends_with("CENTER_SIZE")),
      clips_(node.attributes.get_bool("clip_before_nms")),
      objectness_(node.attributes.get_double("objectness_score")),
      background_(node.attributes.get_int("background_label_id")) {
  if (node.attributes.get_bool("normalized")) return;
  scale_x_ = 1 / static_cast<double>(node.attributes.get_int("input_width"));
  scale_y_ = 1 / static_cast<double>(node.attributes.get_int("input_height"));
}

double DetectionBoxes::score(std::int64_t image, std::int64_t prior, std::int64_t label) const {
  if (inputs_.size() == 5 && real_at(inputs_[3], (image * form_.priors + prior) * 2 + 1) < objectness_) {
    return label == background_ ? 1 : 0;
  }
  return real_at(inputs_[1], (image * form_.priors + prior) * form_.classes + label);
}

DetectionBox DetectionBoxes::values_at(std::size_t input, std::int64_t index) const {
  const auto at = [&](std::int64_t k) { return real_at(inputs_[input], index + k); };
  return {at(0), at(1), at(2), at(3)};
}

DetectionBox DetectionBoxes::prior_box(std::int64_t image, std::int64_t prior) const {
  const std::int64_t rows = form_.has_variances ? 2 : 1;
  const std::int64_t start = (form_.prior_images == 1 ? 0 : image * rows) * form_.priors * form_.prior_size;
  const DetectionBox box = values_at(2, start + prior * form_.prior_size + form_.prior_size - 4);
  return {box.x1 * scale_x_, box.y1 * scale_y_, box.x2 * scale_x_, box.y2 * scale_y_};
}

DetectionBox DetectionBoxes::decoded(const DetectionBox& prior, const DetectionBox& code,
                                     const DetectionBox& variance) const {
  DetectionBox box;
  if (is_centered_) {
    const double width = prior.x2 - prior.x1;
    const double height = prior.y2 - prior.y1;
    const double x = variance.x1 * code.x1 * width + (prior.x1 + prior.x2) / 2;
    const double y = variance.y1 * code.y1 * height + (prior.y1 + prior.y2) / 2;
    const double half_width = std::exp(variance.x2 * code.x2) * width / 2;
    const double half_height = std::exp(variance.y2 * code.y2) * height / 2;
    box = {x - half_width, y - half_height, x + half_width, y + half_height};
  } else {
    box = {prior.x1 + variance.x1 * code.x1, prior.y1 + variance.y1 * code.y1, prior.x2 + variance.x2 * code.x2,
           prior.y2 + variance.y2 * code.y2};
  }
  if (!clips_) return box;
  const auto clipped = [](double value) { return std::clamp(value, 0.0, 1.0); };
  return {clipped(box.x1), clipped(box.y1), clipped(box.x2), clipped(box.y2)};
}

DetectionBox DetectionBoxes::box(std::int64_t image, std::int64_t prior, std::int64_t label) const {
  const std::int64_t location = form_.locations == 1 ? 0 : label;
  const std::int64_t code = ((image * form_.priors + prior) * form_.locations + location) * 4;
  DetectionBox variance{1, 1, 1, 1};
  if (form_.has_variances) {
    const std::int64_t block = form_.prior_images == 1 ? 1 : image * 2 + 1;
    // Variances stand behind the boxes, four for each whatever a box's size.
    variance = values_at(2, block * form_.priors * form_.prior_size + prior * 4);
  }
  DetectionBox from = prior_box(image, prior);
  if (inputs_.size() == 5) from = decoded(from, values_at(4, code), variance);
  return decoded(from, values_at(0, code), variance);
}

}  // namespace headrace
