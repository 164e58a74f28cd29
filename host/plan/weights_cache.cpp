// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_cache.hpp"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

bool is_equal(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  return a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

Tensor WeightsCache::get(const std::string& key, const std::vector<Tensor>& sources,
                         const std::function<Tensor()>& make) {
  const std::scoped_lock lock(mutex_);
  std::vector<Entry>& entries = entries_[key];
  for (const Entry& entry : entries) {
    if (std::equal(sources.begin(), sources.end(), entry.sources.begin(), entry.sources.end(), is_equal)) {
      return entry.packed;
    }
  }
  entries.push_back({sources, make()});
  return entries.back().packed;
}

}  // namespace headrace
