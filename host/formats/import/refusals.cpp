// SPDX-License-Identifier: Apache-2.0
#include "formats/import/refusals.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {

void Refusals::add(const std::string& what, std::string_view node) {
  const auto [entry, is_new] = index_.emplace(what, items_.size());
  if (is_new) items_.push_back({what, std::string(node), 0});
  ++items_[entry->second].count;
}

void Refusals::throw_if_any() const {
  if (items_.empty()) return;
  constexpr std::size_t kMaxShown = 40;
  std::string message = "not supported: ";
  for (std::size_t i = 0; i < std::min(items_.size(), kMaxShown); ++i) {
    const Item& item = items_[i];
    const std::string count = item.count == 1 ? "" : std::to_string(item.count) + " times, first ";
    message += (i == 0 ? "" : ", ") + item.what + " (" + count + quote(item.node) + ")";
  }
  if (items_.size() > kMaxShown) message += " and " + std::to_string(items_.size() - kMaxShown) + " more";
  fail(ErrorCode::kUnsupported, message);
}

std::string readable(std::string_view text) {
  const std::string quoted = quote(text.substr(0, 60));
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace headrace::detail
