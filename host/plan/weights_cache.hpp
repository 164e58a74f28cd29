// SPDX-License-Identifier: Apache-2.0
// Packed weights, made once per network and shared by its plans.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor.hpp"

namespace headrace {

// Thread-safe.
class WeightsCache {
 public:
  // Returns what `make` gave for the same key and equal source constants before, else calls it. Plans for other input
  // shapes rebuild the constants that passes fold, so sources are compared by content, not by address.
  Tensor get(const std::string& key, const std::vector<Tensor>& sources, const std::function<Tensor()>& make);

 private:
  struct Entry {
    std::vector<Tensor> sources;
    Tensor packed;
  };
  std::mutex mutex_;
  std::map<std::string, std::vector<Entry>> entries_;
};

}  // namespace headrace
