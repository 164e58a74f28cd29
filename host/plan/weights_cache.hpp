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
  // Returns what `make` gave for the same key and equal source constants before, else calls it and gives back the
  // memory of sources that lie in a mapped file. Plans for other input shapes rebuild the constants that passes fold,
  // so those are compared by content: by a digest, since keeping them would keep a second copy of the weights.
  Tensor get(const std::string& key, const std::vector<Tensor>& sources, const std::function<Tensor()>& make);

 private:
  // What tells one source from another: where it lies in its file, or else a digest of its content.
  struct Identity {
    ElementType type;
    Shape shape;
    const std::byte* data = nullptr;
    std::size_t digest = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  static Identity identity_of(const Tensor& source);

  struct Entry {
    std::vector<Identity> sources;
    Tensor packed;
  };
  std::mutex mutex_;
  std::map<std::string, std::vector<Entry>> entries_;
};

}  // namespace headrace
