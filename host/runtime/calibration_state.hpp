// SPDX-License-Identifier: Apache-2.0
// What a calibration has found out so far, in memory and in the file with which an interrupted one goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/value_statistics.hpp"

namespace headrace {

// Means over the samples of what compare_quantized tells of a layer.
struct LayerMeans {
  std::vector<double> shifts;  // by output channel
  double noise = 0.0;          // of a sample: mean square error to the mean square of the result
};

struct CalibrationState {
  // Of the tensors: those of chunks before `chunk` are done, of that chunk the first `samples`.
  std::size_t chunk = 0;
  std::size_t samples = 0;
  std::vector<ValueStatistics> tensors;
  std::vector<bool> is_finite;  // by tensor: no NaN or infinite value so far
  // Of the layers: the first `compared` samples, with the data's ranges of that digest.
  std::string ranges;
  std::size_t compared = 0;
  std::vector<LayerMeans> layers;
};

// Writes it to the path (by temporary name and rename). `key` tells network, data and options apart. Throws kIo.
void store_state(const CalibrationState& state, const std::string& key, const std::string& path);

// Reads what store_state wrote. Nothing where there is no such file, or it belongs to another key; nothing with a
// warning where it is damaged.
std::optional<CalibrationState> load_state(const std::string& key, const std::string& path);

}  // namespace headrace
