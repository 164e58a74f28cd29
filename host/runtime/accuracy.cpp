// SPDX-License-Identifier: Apache-2.0
#include "runtime/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/model_impl.hpp"

namespace headrace {
namespace {

// The class scores' row length, or nothing where the tensor is no scores.
std::optional<std::size_t> class_count(const Shape& shape) {
  const bool has_classes = shape.size() >= 2 && shape[0] > 0 && shape[1] >= 2;
  if (!has_classes || std::any_of(shape.begin() + 2, shape.end(), [](std::int64_t dim) { return dim != 1; })) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(shape[1]);
}

// Of each row the class with the largest score, the first one of equal ones. NaN is no score.
std::vector<std::int64_t> best_of_rows(const Tensor& scores) {
  const std::size_t classes = *class_count(scores.shape());
  const std::vector<double> values = to_doubles(scores);
  std::vector<std::int64_t> best;
  for (std::size_t row = 0; row < values.size(); row += classes) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < classes; ++i) {
      if (values[row + i] > values[row + at] || std::isnan(values[row + at])) at = i;
    }
    best.push_back(static_cast<std::int64_t>(at));
  }
  return best;
}

}  // namespace

AccuracyMeter::AccuracyMeter(const Core& core, const Graph& floats, const Samples& samples, const std::string& devices,
                             const std::vector<std::int64_t>& labels, const Tell& tell)
    : core_(core), floats_(floats), samples_(samples), devices_(devices), has_labels_(!labels.empty()) {
  const OutputInfo& output = floats.info(floats.at(floats.results().front()).inputs.at(0));
  // Where shapes are open the first sample tells.
  if (floats.results().size() == 1 && is_floating(output.type)) {
    const CompiledModel net = core.compile_model(make_model(floats), devices);
    InferRequest request = net.create_infer_request();
    samples.run(request, 0);
    is_classifier_ = class_count(request.get_output_tensor().shape()).has_value();
  }
  if (has_labels_ && !is_classifier_) {
    fail(ErrorCode::kInvalidArgument, "labels are given, but network '" + floats.name + "' has no class scores");
  }
  if (has_labels_ && labels.size() != samples.count()) {
    fail(ErrorCode::kInvalidArgument,
         std::to_string(labels.size()) + " labels are given for " + std::to_string(samples.count()) + " samples");
  }
  if (!is_classifier_) return;
  const auto classes = classes_of(floats, tell);
  if (has_labels_) {
    for (std::size_t i = 0; i < labels.size(); ++i) right_.push_back({labels[i]});
  } else {
    right_ = classes;
  }
  float_value_ = share_right(classes);
}

std::string AccuracyMeter::measure() const {
  if (!is_classifier_) return "relative error";
  return has_labels_ ? "top-1" : "top-1 agreement";
}

Accuracy AccuracyMeter::measure_network(const Graph& quantized, const Tell& tell) const {
  if (!is_classifier_) {
    const double error = relative_error(quantized, tell);
    return {error, error};
  }
  const double value = share_right(classes_of(quantized, tell));
  return {value, float_value_ - value};
}

std::vector<std::vector<std::int64_t>> AccuracyMeter::classes_of(const Graph& graph, const Tell& tell) const {
  const CompiledModel net = core_.compile_model(make_model(graph), devices_);
  InferRequest request = net.create_infer_request();
  std::vector<std::vector<std::int64_t>> classes;
  for (std::size_t i = 0; i < samples_.count(); ++i) {
    tell(samples_.name(i));
    samples_.run(request, i);
    const Tensor scores = request.get_output_tensor();
    check(class_count(scores.shape()).has_value(), ErrorCode::kInvalidArgument,
          "'" + samples_.name(i) + "': the result has the shape " + to_string(scores.shape()) + ", no class scores");
    classes.push_back(best_of_rows(scores));
  }
  return classes;
}

double AccuracyMeter::share_right(const std::vector<std::vector<std::int64_t>>& classes) const {
  std::size_t rows = 0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].size() != right_[i].size()) {
      fail(ErrorCode::kInvalidArgument, "'" + samples_.name(i) + "' holds " + std::to_string(classes[i].size()) +
                                            " samples in one batch, but has one label: give each one apart");
    }
    for (std::size_t row = 0; row < classes[i].size(); ++row) right += classes[i][row] == right_[i][row] ? 1 : 0;
    rows += classes[i].size();
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

double AccuracyMeter::relative_error(const Graph& quantized, const Tell& tell) const {
  const CompiledModel expected_net = core_.compile_model(make_model(floats_), devices_);
  const CompiledModel actual_net = core_.compile_model(make_model(quantized), devices_);
  InferRequest expected = expected_net.create_infer_request();
  InferRequest actual = actual_net.create_infer_request();
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i < samples_.count(); ++i) {
    tell(samples_.name(i));
    samples_.run(expected, i);
    samples_.run(actual, i);
    for (std::size_t output = 0; output < floats_.results().size(); ++output) {
      const std::vector<double> a = to_doubles(actual.get_output_tensor(output));
      const std::vector<double> b = to_doubles(expected.get_output_tensor(output));
      if (a.size() != b.size()) return std::numeric_limits<double>::infinity();  // as many boxes as it found
      for (std::size_t k = 0; k < a.size(); ++k) {
        power += std::isfinite(b[k]) ? b[k] * b[k] : 0.0;
        if (a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) continue;
        error += (a[k] - b[k]) * (a[k] - b[k]);
      }
    }
  }
  if (std::isnan(error)) return std::numeric_limits<double>::infinity();
  return error == 0.0 ? 0.0 : std::sqrt(error / power);
}

std::optional<std::size_t> find_fewest(std::size_t count, double max_drop,
                                       const std::function<double(std::size_t put_back)>& measure_drop) {
  std::size_t bad = 0;
  std::size_t good = 0;
  for (std::size_t next = 0;; next = std::max<std::size_t>(1, 2 * next)) {
    const std::size_t tried = std::min(next, count);
    if (measure_drop(tried) <= max_drop) {
      good = tried;
      break;
    }
    if (tried == count) return std::nullopt;
    bad = tried;
  }
  while (good > bad + 1) {
    const std::size_t middle = bad + (good - bad) / 2;
    (measure_drop(middle) <= max_drop ? good : bad) = middle;
  }
  return good;
}

}  // namespace headrace
