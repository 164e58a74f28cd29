// SPDX-License-Identifier: Apache-2.0
// Finds the converter of an operator in the tables that the build lists (headrace_converters in cmake/tables.cmake).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

namespace headrace::detail {

// All converters by what `key_of` says of each; of two with one key the first counts.
template <typename Converter, typename KeyOf>
auto index_converters(const std::vector<std::span<const Converter>>& groups, KeyOf key_of) {
  std::map<std::decay_t<std::invoke_result_t<KeyOf, const Converter&>>, const Converter*> index;
  for (const std::span<const Converter> group : groups) {
    for (const Converter& converter : group) index.emplace(std::invoke(key_of, converter), &converter);
  }
  return index;
}

// The converter with this key; null where there is none.
template <typename Key, typename Converter>
const Converter* find_converter(const std::map<Key, const Converter*>& index, const std::type_identity_t<Key>& key) {
  const auto found = index.find(key);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace headrace::detail
