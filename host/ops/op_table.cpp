// SPDX-License-Identifier: Apache-2.0
// Look-up in the table of operators that the build writes (cmake/tables.cmake).
#include <algorithm>
#include <cctype>
#include <map>

#include "ops/descriptor.hpp"

namespace headrace {

namespace detail {
std::vector<const OpDescriptor*> operator_table();  // generated
}

namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Class names of OpenVINO that differ from the type in IR by more than case.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {{"constant", "Const"}};

struct Entry {
  std::string canonical;
  const OpDescriptor* op = nullptr;
};

const std::map<std::string, Entry>& entries() {
  static const std::map<std::string, Entry> table = [] {
    std::map<std::string, Entry> result;
    for (const OpDescriptor* op : detail::operator_table()) {
      for (const std::string_view type : op->types) result[lowered(type)] = {std::string(type), op};
    }
    return result;
  }();
  return table;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> canonical_type(std::string_view type) {
  const std::string wanted = lowered(type);
  for (const auto& [other, canonical] : kOtherNames) {
    if (wanted == other) return std::string(canonical);
  }
  for (const std::string_view structural : {"Const", "Parameter", "Result"}) {
    if (wanted == lowered(structural)) return std::string(structural);
  }
  const auto found = entries().find(wanted);
  if (found == entries().end()) return std::nullopt;
  return found->second.canonical;
}

const OpDescriptor* find_op(std::string_view type) {
  const auto found = entries().find(lowered(type));
  return found == entries().end() ? nullptr : found->second.op;
}

std::span<const OpDescriptor* const> all_ops() {
  static const std::vector<const OpDescriptor*> ops = detail::operator_table();
  return ops;
}

std::vector<std::string> nearest_types(std::string_view type) {
  constexpr std::size_t kMaxNameChars = 64;  // hostile files may hold megabytes here
  constexpr std::size_t kShown = 3;
  const std::string wanted = lowered(type.substr(0, kMaxNameChars));
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& [key, entry] : entries()) ranked.emplace_back(edit_distance(wanted, key), entry.canonical);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) {
    if (names.size() < kShown && distance <= wanted.size() / 2) names.push_back(name);
  }
  return names;
}

}  // namespace headrace
