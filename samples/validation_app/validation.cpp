// SPDX-License-Identifier: Apache-2.0
#include "validation_app/validation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "common/classification.hpp"
#include "validation_app/voc_annotation.hpp"

namespace headrace::samples {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTop = 5;

std::string percent(std::size_t part, std::size_t whole) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

void tell(Progress& progress, const std::string& message) {
  progress.hide();
  print_error("validation_app", message);
}

std::string annotation_path(const std::string& picture, const std::string& folder) {
  const fs::path file = fs::path(picture).replace_extension(".xml");
  return (folder.empty() ? file : fs::path(folder) / file.filename()).string();
}

void check_one_output(const Model& model) {
  const std::size_t count = model.outputs().size();
  if (count == 1) return;
  fail(ErrorCode::kUnsupported, "network '" + model.name() + "' has " + std::to_string(count) +
                                    " outputs; make one with the one that counts: headrace convert --output NAME");
}

}  // namespace

std::size_t rank_of(const Tensor& scores, std::size_t label) {
  const std::vector<double> values = to_doubles(scores);
  const double own = values.at(label);
  if (std::isnan(own)) return values.size();
  std::size_t rank = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_before = values[i] > own || (values[i] == own && i < label);
    rank += is_before ? 1 : 0;
  }
  return rank;
}

Validation::Validation(const ValidationOptions& options)
    : options_(options),
      model_(core_.read_model(options.model)),
      input_(find_image_input(model_, options.preprocess)),
      net_(core_.compile_model(model_, options.device)),
      request_(net_.create_infer_request()) {
  check_one_output(model_);
}

std::size_t Validation::class_count() const {
  const PartialShape shape = net_.outputs().at(0).shape;  // outputs() is gone behind the line
  return shape.is_static() ? static_cast<std::size_t>(count_elems(shape.to_shape())) : 0;
}

Tensor Validation::run(const Picture& picture, double& seconds) {
  request_.set_input_tensor(input_.index, to_tensor(picture, input_, options_.preprocess));
  const auto start = std::chrono::steady_clock::now();
  request_.infer();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return request_.get_output_tensor();
}

ClassificationResult Validation::classify(const DataSet& data) {
  ClassificationResult result;
  Progress progress(data.pictures.size());
  for (const std::string& problem : data.problems) tell(progress, problem);
  result.bad = data.problems.size();
  for (std::size_t i = 0; i < data.pictures.size(); ++i) {
    const LabelledPicture& picture = data.pictures[i];
    progress.show(i, "top-1 " + percent(result.top1, result.counted));
    try {
      const Tensor scores = run(picture.read(input_.channels), result.infer_seconds);
      const std::int64_t wanted = picture.label + (options_.has_background ? 1 : 0);
      if (wanted >= scores.count()) {
        fail(ErrorCode::kInvalidArgument, "'" + picture.name + "': label " + std::to_string(picture.label) +
                                              " is out of range, the network has " + std::to_string(scores.count()) +
                                              " classes");
      }
      const std::size_t rank = rank_of(scores, static_cast<std::size_t>(wanted));
      ++result.counted;
      result.top1 += rank == 0 ? 1 : 0;
      result.top5 += rank < kTop ? 1 : 0;
    } catch (const Error& error) {
      tell(progress, error.what());
      ++result.bad;  // the other pictures still count
    }
  }
  return result;
}

DetectionResult Validation::detect(const std::vector<std::string>& pictures, const std::vector<std::string>& labels) {
  DetectionResult result;
  PrecisionCounter counter;
  Progress progress(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    progress.show(i, pictures[i]);
    try {
      const std::string annotation = annotation_path(pictures[i], options_.annotations);
      const auto objects = read_voc_annotation(annotation, labels, options_.has_background ? 1 : 0);
      const Picture picture = read_picture(pictures[i], input_.channels);
      const Tensor output = run(picture, result.infer_seconds);
      counter.add_picture(objects, read_detections(output, picture.width, picture.height));
      ++result.counted;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUnsupported) throw;  // of the network, and true of every picture
      tell(progress, error.what());
      ++result.bad;
    }
  }
  result.by_class = counter.by_class();
  return result;
}

}  // namespace headrace::samples
