// SPDX-License-Identifier: Apache-2.0
// How near a quantized network comes to the one in floats on the same samples.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headrace/headrace.hpp"
#include "runtime/calibration.hpp"

namespace headrace {

// What a network is worth: larger is better where it is a share of right answers.
struct Accuracy {
  double value = 0.0;
  double drop = 0.0;  // from the network in floats
};

// Measures quantized networks against one in floats. Where the network has one output that looks like class scores
// (floats, [N, C] with C of 2 or more, and ones behind), the measure is top-1: the share of right classes where labels
// are given, else of classes that are the float network's. Else it is the relative error: root of the sum of squared
// differences over that of squares, of all outputs and samples.
class AccuracyMeter {
 public:
  // Told before each sample; may throw.
  using Tell = std::function<void(std::string_view sample)>;

  // Runs the network in floats over all samples where it is a classifier. `labels` has one class for each sample, or
  // none. Throws kInvalidArgument where labels are given for a network that is no classifier, or not one per sample.
  AccuracyMeter(const Core& core, const Graph& floats, const Samples& samples, const std::string& devices,
                const std::vector<std::int64_t>& labels, const Tell& tell);

  std::string measure() const;
  double float_value() const { return float_value_; }
  Accuracy measure_network(const Graph& quantized, const Tell& tell) const;

 private:
  std::vector<std::vector<std::int64_t>> classes_of(const Graph& graph, const Tell& tell) const;
  double relative_error(const Graph& quantized, const Tell& tell) const;
  double share_right(const std::vector<std::vector<std::int64_t>>& classes) const;

  const Core& core_;
  const Graph& floats_;
  const Samples& samples_;
  std::string devices_;
  bool is_classifier_ = false;
  bool has_labels_ = false;
  std::vector<std::vector<std::int64_t>> right_;  // by sample and row of its batch
  double float_value_ = 0.0;
};

// The fewest of `count` layers, the first ones, that have to be put back into floats so that the drop is at most
// max_drop, found by doubling and bisection: about 2 log2(count) measurements. Nothing where all of them do not do.
std::optional<std::size_t> find_fewest(std::size_t count, double max_drop,
                                       const std::function<double(std::size_t put_back)>& measure_drop);

}  // namespace headrace
