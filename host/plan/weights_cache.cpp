// SPDX-License-Identifier: Apache-2.0
#include "plan/weights_cache.hpp"

#include <algorithm>
#include <string_view>

#include "core/file.hpp"

namespace headrace {

WeightsCache::Identity WeightsCache::identity_of(const Tensor& source) {
  if (source.is_read_only()) return {source.type(), source.shape(), source.data(), 0};
  const std::string_view content(reinterpret_cast<const char*>(source.data()), source.size_bytes());
  return {source.type(), source.shape(), nullptr, std::hash<std::string_view>{}(content)};
}

Tensor WeightsCache::get(const std::string& key, const std::vector<Tensor>& sources,
                         const std::function<Tensor()>& make) {
  std::vector<Identity> wanted;
  wanted.reserve(sources.size());
  for (const Tensor& source : sources) wanted.push_back(identity_of(source));
  const std::scoped_lock lock(mutex_);
  std::vector<Entry>& entries = entries_[key];
  for (const Entry& entry : entries) {
    if (entry.sources == wanted) return entry.packed;
  }
  entries.push_back({std::move(wanted), make()});
  for (const Tensor& source : sources) drop_file_pages({source.data(), source.size_bytes()});
  return entries.back().packed;
}

}  // namespace headrace
