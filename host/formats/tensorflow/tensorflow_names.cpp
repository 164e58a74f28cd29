// SPDX-License-Identifier: Apache-2.0
// How the nodes of a TensorFlow graph name each other's outputs.
#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/tensorflow/tensorflow_reader_impl.hpp"

namespace headrace::detail {
namespace {

std::int32_t number_in(std::string_view number, std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value < 0) {
    fail(ErrorCode::kBadModel, quote(text) + " is no name of a tensor");
  }
  return value;
}

// The outputs of operators that have several names for them, from their definitions (tensorflow/core/ops).
struct OutputNames {
  std::string_view op;
  std::array<std::string_view, 7> names;  // empty ones behind the last
};

constexpr std::array<std::string_view, 7> kBatchNorm = {
    "y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"};

constexpr OutputNames kOutputNames[] = {
    {"FusedBatchNorm", kBatchNorm},
    {"FusedBatchNormV2", kBatchNorm},
    {"FusedBatchNormV3", kBatchNorm},
    {"TopK", {"values", "indices"}},
    {"TopKV2", {"values", "indices"}},
    {"Switch", {"output_false", "output_true"}},
    {"Merge", {"output", "value_index"}},
    {"Unique", {"y", "idx"}},
    {"UniqueV2", {"y", "idx"}},
    {"NonMaxSuppressionV4", {"selected_indices", "valid_outputs"}},
    {"NonMaxSuppressionV5", {"selected_indices", "selected_scores", "valid_outputs"}},
    {"CombinedNonMaxSuppression", {"nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"}},
    {"MaxPoolWithArgmax", {"output", "argmax"}},
    {"TensorListPopBack", {"output_handle", "tensor"}},
    {"BlockLSTM", {"i", "cs", "f", "o", "ci", "co", "h"}},
    {"BlockLSTMV2", {"i", "cs", "f", "o", "ci", "co", "h"}},
};

}  // namespace

TensorflowInput parse_tensorflow_input(std::string_view text) {
  TensorflowInput input;
  std::string_view rest = text;
  if (rest.starts_with('^')) {
    input.is_control = true;
    input.node = rest.substr(1);
    return input;
  }
  const std::size_t first = rest.find(':');
  input.node = rest.substr(0, first);
  if (first == std::string_view::npos) return input;
  rest = rest.substr(first + 1);
  const std::size_t second = rest.find(':');
  if (second != std::string_view::npos) {
    input.output = rest.substr(0, second);
    input.index = number_in(rest.substr(second + 1), text);
  } else {
    input.index = number_in(rest, text);
  }
  return input;
}

std::int32_t tensorflow_output_index(std::string_view op, std::string_view output, std::int32_t index) {
  if (output.empty()) return index;
  for (const OutputNames& entry : kOutputNames) {
    if (entry.op != op) continue;
    const auto place = std::find(entry.names.begin(), entry.names.end(), output);
    if (place != entry.names.end()) return static_cast<std::int32_t>(place - entry.names.begin()) + index;
  }
  return index;
}

bool is_tensorflow_sink(std::string_view op) {
  constexpr std::string_view kNoOutputs[] = {"NoOp",          "Assert",           "PrintV2",
                                             "Const",         "Placeholder",      "PlaceholderWithDefault",
                                             "SaveV2",        "SaveSlices",       "MergeV2Checkpoints",
                                             "ScalarSummary", "HistogramSummary", "MergeSummary",
                                             "ImageSummary"};
  return std::find(std::begin(kNoOutputs), std::end(kNoOutputs), op) == std::end(kNoOutputs);
}

std::string tensorflow_node_text(const TensorflowNode& node) {
  return "node " + quote(node.name) + " (" + readable(node.op) + ")";
}

}  // namespace headrace::detail
