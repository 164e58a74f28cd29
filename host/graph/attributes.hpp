// SPDX-License-Identifier: Apache-2.0
// A node's attributes: text as the file has it (RawAttributes), then typed and complete (Attributes).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace {

// Names and values of an IR <data> element.
using RawAttributes = std::map<std::string, std::string, std::less<>>;

using AttributeValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

// Typed attributes with every default filled in, as an operator's parse function makes them. get_* throws kInternal
// where the attribute is absent or of another type: parse must have set it.
class Attributes {
 public:
  void set(std::string_view name, AttributeValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }

  bool get_bool(std::string_view name) const { return get<bool>(name); }
  std::int64_t get_int(std::string_view name) const { return get<std::int64_t>(name); }
  double get_double(std::string_view name) const { return get<double>(name); }
  const std::string& get_string(std::string_view name) const { return get<std::string>(name); }
  const std::vector<std::int64_t>& get_ints(std::string_view name) const {
    return get<std::vector<std::int64_t>>(name);
  }
  const std::vector<double>& get_doubles(std::string_view name) const { return get<std::vector<double>>(name); }

  const std::map<std::string, AttributeValue, std::less<>>& values() const { return values_; }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  template <typename T>
  const T& get(std::string_view name) const;

  std::map<std::string, AttributeValue, std::less<>> values_;
};

// Returns the value as IR's text: lists as "1, 2", booleans as "true"/"false", numbers so that they read back equal.
std::string to_string(const AttributeValue& value);

// Typed reading of raw attributes. Each throws kBadModel naming the attribute where the text is not of the type, or,
// without a fallback, where it is missing. Lists are split at commas and trimmed. parse_enum matches without regard
// to case and returns the allowed spelling.
std::int64_t parse_int(const RawAttributes& raw, std::string_view name);
std::int64_t parse_int(const RawAttributes& raw, std::string_view name, std::int64_t fallback);
double parse_double(const RawAttributes& raw, std::string_view name);
double parse_double(const RawAttributes& raw, std::string_view name, double fallback);
bool parse_bool(const RawAttributes& raw, std::string_view name);
bool parse_bool(const RawAttributes& raw, std::string_view name, bool fallback);
std::vector<std::int64_t> parse_ints(const RawAttributes& raw, std::string_view name);
std::vector<std::int64_t> parse_ints(const RawAttributes& raw, std::string_view name,
                                     std::vector<std::int64_t> fallback);
std::vector<double> parse_doubles(const RawAttributes& raw, std::string_view name, std::vector<double> fallback);
std::string parse_string(const RawAttributes& raw, std::string_view name, std::string_view fallback);
std::string parse_enum(const RawAttributes& raw, std::string_view name, std::string_view fallback,
                       const std::vector<std::string_view>& allowed);

}  // namespace headrace
