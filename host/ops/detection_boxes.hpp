// SPDX-License-Identifier: Apache-2.0
// Boxes and scores of SSD's predictions, decoded against their priors.
#pragma once

#include <cstdint>
#include <span>

#include "ops/box_overlap.hpp"
#include "ops/descriptor.hpp"

namespace headrace {

struct DetectionForm {
  std::int64_t images = 1, priors = 0, classes = 0;
  std::int64_t locations = 1;     // boxes per prior: one, or one per class
  std::int64_t prior_size = 4;    // values per prior: 4, or 5 with the image in front
  std::int64_t prior_images = 1;  // 1: all images share the priors
  bool has_variances = false;
};

// Reads the inputs of a DetectionOutput node, whose attributes it looks up; borrows them. Thread-safe.
class DetectionBoxes {
 public:
  DetectionBoxes(const Node& node, const DetectionForm& form, std::span<const Tensor> inputs);

  const DetectionForm& form() const { return form_; }
  double score(std::int64_t image, std::int64_t prior, std::int64_t label) const;
  DetectionBox box(std::int64_t image, std::int64_t prior, std::int64_t label) const;

 private:
  DetectionBox prior_box(std::int64_t image, std::int64_t prior) const;
  DetectionBox decoded(const DetectionBox& prior, const DetectionBox& code, const DetectionBox& variance) const;
  DetectionBox values_at(std::size_t input, std::int64_t index) const;

  DetectionForm form_;
  std::span<const Tensor> inputs_;
  bool is_centered_ = false;
  bool clips_ = false;
  double scale_x_ = 1;  // pixels to places
  double scale_y_ = 1;
  double objectness_ = 0;
  std::int64_t background_ = 0;
};

}  // namespace headrace
