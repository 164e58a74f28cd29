// SPDX-License-Identifier: Apache-2.0
// Runs a network over samples and gathers what its quantization needs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headrace/headrace.hpp"
#include "passes/compare_quantized.hpp"
#include "runtime/calibration_state.hpp"

namespace headrace {

// Samples as a network takes them, checked when they are read.
class Samples {
 public:
  Samples(const CalibrationData& data, std::vector<PortInfo> inputs) : data_(data), inputs_(std::move(inputs)) {}

  std::size_t count() const { return data_.count; }
  std::string name(std::size_t index) const { return data_.name(index); }
  // Runs the request on the sample. Throws kInvalidArgument or kBadModel, naming the sample, for what does not fit or
  // is no finite number.
  void run(InferRequest& request, std::size_t index) const;

 private:
  const CalibrationData& data_;
  std::vector<PortInfo> inputs_;
};

// Evenly spread places among `count` samples, `wanted` at most, ascending.
std::vector<std::size_t> spread_samples(std::size_t count, std::size_t wanted);

// One calibration of a network in floats. Progress is told in [0, 1]; where it answers false the state is stored and
// kCancelled thrown.
class Calibration {
 public:
  struct Options {
    std::string devices = "CPU";
    std::size_t subset = 300;
    std::string state_path{};
  };

  // The graph must outlive the calibration. Goes on with a stored state of the same network, data and subset.
  Calibration(const Core& core, const Graph& graph, const std::vector<QuantizableLayer>& layers,
              const CalibrationData& data, const Options& options, const QuantizationProgress& progress);

  // Statistics of every tensor that the layers read. Done at once where they were stored.
  void collect();
  // How the layers and their quantized twins differ.
  void compare(const std::vector<QuantizableLayer>& layers, const ByteRanges& ranges);

  // Nothing where a value was NaN or infinite.
  const ValueStatistics* find(PortRef tensor) const;
  // Means over the samples; the order is that of the layers that compare got.
  const std::vector<LayerMeans>& layers() const { return state_.layers; }

  std::size_t samples() const { return places_.size(); }
  std::size_t resumed() const { return resumed_; }

 private:
  void collect_chunk(const std::vector<std::size_t>& chunk);
  void add_comparison(const InferRequest& request, const std::vector<LayerComparison>& comparisons, std::size_t count);
  void tell(double fraction, std::string_view what);
  [[noreturn]] void stop();

  const Core& core_;
  const Graph& graph_;
  Options options_;
  const QuantizationProgress& progress_;
  Samples samples_;
  std::vector<std::size_t> places_;
  std::string key_;
  std::vector<PortRef> tensors_;
  std::map<PortRef, std::size_t> indices_;
  std::vector<std::vector<std::size_t>> chunks_;  // tensors that one network gives as outputs
  CalibrationState state_;
  std::size_t resumed_ = 0;
  double last_store_s_ = 0.0;
};

}  // namespace headrace
