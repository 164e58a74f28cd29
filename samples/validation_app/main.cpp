// SPDX-License-Identifier: Apache-2.0
// Measures how often a network is right on pictures whose classes or objects are known: top-1 and top-5, or mAP.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "common/classification.hpp"
#include "core/log.hpp"
#include "validation_app/validation.hpp"

namespace {

namespace samples = headrace::samples;
using samples::ValidationOptions;

constexpr const char* kProgram = "validation_app";

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_pictures(std::size_t counted, std::size_t bad, double seconds) {
  std::printf("pictures  %zu", counted);
  if (bad > 0) std::printf(" (%zu more could not be used)", bad);
  if (counted > 0) std::printf(", %.2f ms each", 1e3 * seconds / static_cast<double>(counted));
  std::printf("\n");
}

void check_counted(std::size_t counted) {
  if (counted > 0) return;
  headrace::fail(headrace::ErrorCode::kInvalidArgument, "there was no picture that could be counted");
}

// A network of 1001 classes with 1000 labels is nearly always one whose class 0 is the background.
void warn_about_background(const ValidationOptions& options, std::size_t labels, std::size_t classes) {
  const bool fits = labels == 0 || classes == 0 || classes == labels + (options.has_background ? 1 : 0);
  if (fits) return;
  const bool may_be_background = !options.has_background && classes == labels + 1;
  std::fprintf(stderr, "%s: warning: %zu labels for %zu classes%s\n", kProgram, labels, classes,
               may_be_background ? "; if class 0 is the background, give --background" : "");
}

int classify(const ValidationOptions& options, const std::vector<std::string>& labels) {
  samples::DataSet data = samples::read_data_set(options.input, options.idx_labels, labels);
  const auto limit = static_cast<std::size_t>(options.limit);
  if (limit > 0 && data.pictures.size() > limit) data.pictures.resize(limit);
  samples::Validation validation(options);
  std::size_t known = labels.size();
  for (const auto& picture : data.pictures) {
    // Without names the labels themselves tell: 1000 classes are numbered up to 999.
    if (labels.empty()) known = std::max(known, static_cast<std::size_t>(picture.label) + 1);
  }
  const bool is_suspicious = !labels.empty() || known + 1 == validation.class_count();
  if (is_suspicious) warn_about_background(options, known, validation.class_count());
  const samples::ClassificationResult result = validation.classify(data);
  check_counted(result.counted);
  print_pictures(result.counted, result.bad, result.infer_seconds);
  std::printf("top-1     %.2f %% (%zu)\n", percent(result.top1, result.counted), result.top1);
  std::printf("top-5     %.2f %% (%zu)\n", percent(result.top5, result.counted), result.top5);
  return result.bad == 0 ? 0 : 1;
}

int detect(const ValidationOptions& options, const std::vector<std::string>& labels) {
  std::vector<std::string> pictures = samples::expand_paths({options.input});
  std::erase_if(pictures, [](const std::string& path) { return path.ends_with(".xml"); });
  const auto limit = static_cast<std::size_t>(options.limit);
  if (limit > 0 && pictures.size() > limit) pictures.resize(limit);
  const samples::DetectionResult result = samples::Validation(options).detect(pictures, labels);
  check_counted(result.counted);
  print_pictures(result.counted, result.bad, result.infer_seconds);
  double area = 0.0;
  double points = 0.0;
  std::printf("  class  objects  detections  AP [%%]  11 points [%%]  label\n");
  for (const auto& [label, row] : result.by_class) {
    const std::int64_t index = label - (options.has_background ? 1 : 0);
    const bool has_name = index >= 0 && static_cast<std::size_t>(index) < labels.size();
    std::printf("  %5lld  %7zu  %10zu  %6.2f  %13.2f  %s\n", static_cast<long long>(label), row.objects, row.detections,
                100.0 * row.area, 100.0 * row.eleven_points,
                has_name ? labels[static_cast<std::size_t>(index)].c_str() : "-");
    area += row.area;
    points += row.eleven_points;
  }
  const double classes = std::max(1.0, static_cast<double>(result.by_class.size()));
  std::printf("mAP       %.2f %% (11 points: %.2f %%)\n", 100.0 * area / classes, 100.0 * points / classes);
  return result.bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    headrace::configure_log_from_environment();
    const auto parsed = samples::parse_validation_options(argc, argv);
    if (!parsed.options) return parsed.exit_code;
    const ValidationOptions& options = *parsed.options;
    const auto labels = options.labels.empty() ? std::vector<std::string>() : samples::read_labels(options.labels);
    return options.is_detection ? detect(options, labels) : classify(options, labels);
  } catch (const std::exception& error) {
    samples::print_error(kProgram, error.what());
    return 1;
  }
}
