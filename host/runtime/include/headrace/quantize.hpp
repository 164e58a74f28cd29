// SPDX-License-Identifier: Apache-2.0
// Writing a network for computation in bytes, calibrated on data. Included by headrace/headrace.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.hpp"

namespace headrace {

class Core;
class Model;

// What a network is calibrated on: samples, each one tensor for every input, in the order of Model::inputs.
struct CalibrationData {
  std::size_t count = 0;
  std::function<std::vector<Tensor>(std::size_t index)> read;  // throws Error naming the file
  std::function<std::string(std::size_t index)> name;          // of the sample, for messages
  // Tells one set of data from another, so that statistics are never gone on with on other data.
  std::string identity;
};

struct QuantizationOptions {
  // How activations with values below zero are laid on bytes: symmetric around zero (kPerformance), or on the range
  // that they have (kMixed). The others are unsigned from zero on.
  enum class Preset { kPerformance, kMixed };
  // The range of a tensor: all values that it had; all but the outermost (100 - percentile) % on each side; or the one
  // with the least mean square error of the bytes.
  enum class Method { kMinMax, kPercentile, kMse };
  // What the result has to reach.
  struct AccuracyCheck {
    double max_drop = 0.01;
    std::vector<std::int64_t> labels{};  // the right class of each sample; empty: the float network's
  };

  Preset preset = Preset::kMixed;
  Method method = Method::kMinMax;
  double percentile = 99.99;
  std::size_t subset = 300;                   // samples that statistics are taken of, evenly spread over the data
  std::vector<std::string> ignored_layers{};  // of the optimized network
  std::vector<std::string> ignored_types{};
  std::string devices = "CPU";  // that compute the calibration runs
  bool corrects_bias = true;
  std::optional<AccuracyCheck> accuracy{};
  std::string state_path{};  // where an interrupted run keeps its statistics; empty: nowhere
};

struct QuantizationReport {
  struct Layer {
    std::string name;
    std::string type;
    double low = 0.0;  // the range of its data in bytes
    double high = 0.0;
    double noise = 0.0;  // mean square error of its result to the mean square of it, averaged over the samples
  };
  struct Kept {
    std::string name;
    std::string type;
    std::string reason;  // why it stays in floats
  };
  struct Trial {
    std::size_t put_back = 0;  // layers that were in floats again
    double drop = 0.0;
  };

  std::string name;  // of the network
  std::string xml_path;
  std::string bin_path;
  std::int64_t file_bytes = 0;  // of both together
  std::size_t samples = 0;      // that statistics were taken of
  std::size_t resumed = 0;      // of these, by a run that was interrupted
  std::vector<Layer> layers;    // in bytes, in running order
  std::vector<Kept> kept;
  // Of the accuracy check: "top-1" (share of samples with the right class), "top-1 agreement" or "relative error".
  std::string measure;
  double float_value = 0.0;      // of the network in floats
  double quantized_value = 0.0;  // of what was written
  double drop = 0.0;
  std::vector<Trial> trials;          // in the order in which they were made
  std::vector<std::string> put_back;  // layers in floats again, the noisiest first
};

// Called now and then; fraction is between 0 and 1. False ends the work with kCancelled after storing the statistics.
using QuantizationProgress = std::function<bool(double fraction, std::string_view stage)>;

// Writes the network as IR version 11 with FakeQuantize (256 levels, one range per tensor) on the data and i8 weights
// (255 levels, one scale per output channel) of Convolution, GroupConvolution and MatMul: xml_path, which must end in
// .xml, and the .bin beside it. Runs the passes of convert_model before. Results are shifted per channel by the mean
// error that quantization of the layer makes on the data (bias correction).
// Throws kInvalidArgument for options that do not fit the network or data that do not fit its inputs or are none,
// kBadModel for data with NaN or infinite values, naming the sample, kUnsupported where nothing is to be quantized, is
// quantized already, or no quantized layer can stay, kCancelled, kIo.
QuantizationReport quantize_model(const Core& core, const Model& model, const std::string& xml_path,
                                  const CalibrationData& data, const QuantizationOptions& options = {},
                                  const QuantizationProgress& progress = {});

// The report as one JSON document.
std::string quantization_json(const QuantizationReport& report);

}  // namespace headrace
