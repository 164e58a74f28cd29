// SPDX-License-Identifier: Apache-2.0
// Runs a network over a data set and counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/progress.hpp"
#include "headrace/headrace.hpp"
#include "validation_app/average_precision.hpp"
#include "validation_app/data_set.hpp"
#include "validation_app/validation_options.hpp"

namespace headrace::samples {

// The place of a class among the scores, 0 for the best: how many score more, and, of equal scores, come before it.
// A class whose own score is NaN comes behind all.
std::size_t rank_of(const Tensor& scores, std::size_t label);

struct ClassificationResult {
  std::size_t counted = 0;
  std::size_t top1 = 0;
  std::size_t top5 = 0;
  std::size_t bad = 0;  // lines and pictures that could not be used, each of them told on stderr
  double infer_seconds = 0.0;
};

struct DetectionResult {
  std::size_t counted = 0;
  std::size_t bad = 0;
  std::map<std::int64_t, AveragePrecision> by_class;
  double infer_seconds = 0.0;
};

// One network on one device, fed one picture at a time.
class Validation {
 public:
  explicit Validation(const ValidationOptions& options);

  ClassificationResult classify(const DataSet& data);
  DetectionResult detect(const std::vector<std::string>& pictures, const std::vector<std::string>& labels);

  // Number of classes that the scores tell apart.
  std::size_t class_count() const;

 private:
  // Prepares the picture and runs the network.
  Tensor run(const Picture& picture, double& seconds);

  const ValidationOptions& options_;
  Core core_;
  Model model_;
  ImageInput input_;
  CompiledModel net_;
  InferRequest request_;
};

}  // namespace headrace::samples
