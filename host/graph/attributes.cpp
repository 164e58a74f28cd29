// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "core/error.hpp"

namespace headrace {
namespace {

std::string quoted(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;  // hostile files may hold megabytes here
  std::string shown(text.substr(0, kMaxShown));
  if (text.size() > kMaxShown) shown += "...";
  return "'" + shown + "'";
}

[[noreturn]] void fail_attribute(std::string_view name, const std::string& what) {
  fail(ErrorCode::kBadModel, "attribute " + quoted(name) + " " + what);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

const std::string* find(const RawAttributes& raw, std::string_view name) {
  const auto found = raw.find(name);
  return found == raw.end() ? nullptr : &found->second;
}

const std::string& at(const RawAttributes& raw, std::string_view name) {
  const std::string* text = find(raw, name);
  if (text == nullptr) fail_attribute(name, "is missing");
  return *text;
}

std::int64_t to_int(std::string_view text, std::string_view name) {
  const std::string_view body = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (body.empty() || error != std::errc() || end != body.data() + body.size()) {
    fail_attribute(name, "is " + quoted(text) + ", expected an integer");
  }
  return value;
}

double to_double(std::string_view text, std::string_view name) {
  const std::string body(trimmed(text));
  char* end = nullptr;
  const double value = std::strtod(body.c_str(), &end);
  if (body.empty() || *end != '\0') fail_attribute(name, "is " + quoted(text) + ", expected a number");
  return value;
}

bool to_bool(std::string_view text, std::string_view name) {
  const std::string body = lowered(trimmed(text));
  if (body == "true" || body == "1") return true;
  if (body == "false" || body == "0") return false;
  fail_attribute(name, "is " + quoted(text) + ", expected true or false");
}

template <typename T, typename Convert>
std::vector<T> to_list(std::string_view text, std::string_view name, Convert convert) {
  std::vector<T> values;
  const std::string_view body = trimmed(text);
  if (body.empty()) return values;
  std::size_t start = 0;
  while (start <= body.size()) {
    const std::size_t comma = std::min(body.find(',', start), body.size());
    values.push_back(convert(body.substr(start, comma - start), name));
    start = comma + 1;
  }
  return values;
}

std::string number_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

template <typename T, typename Convert>
std::string list_text(const std::vector<T>& values, Convert convert) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + convert(value);
  return text;
}

}  // namespace

template <typename T>
const T& Attributes::get(std::string_view name) const {
  const auto found = values_.find(name);
  const T* value = found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  if (value == nullptr) {
    fail(ErrorCode::kInternal, "internal error: attribute " + quoted(name) + " was not set by parse");
  }
  return *value;
}

template const bool& Attributes::get<bool>(std::string_view) const;
template const std::int64_t& Attributes::get<std::int64_t>(std::string_view) const;
template const double& Attributes::get<double>(std::string_view) const;
template const std::string& Attributes::get<std::string>(std::string_view) const;
template const std::vector<std::int64_t>& Attributes::get<std::vector<std::int64_t>>(std::string_view) const;
template const std::vector<double>& Attributes::get<std::vector<double>>(std::string_view) const;

std::string to_string(const AttributeValue& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      return list_text(v, [](std::int64_t x) { return std::to_string(x); });
    }
    std::string operator()(const std::vector<double>& v) const { return list_text(v, number_text); }
  };
  return std::visit(Printer{}, value);
}

std::int64_t parse_int(const RawAttributes& raw, std::string_view name) { return to_int(at(raw, name), name); }

std::int64_t parse_int(const RawAttributes& raw, std::string_view name, std::int64_t fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? fallback : to_int(*text, name);
}

double parse_double(const RawAttributes& raw, std::string_view name) { return to_double(at(raw, name), name); }

double parse_double(const RawAttributes& raw, std::string_view name, double fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? fallback : to_double(*text, name);
}

bool parse_bool(const RawAttributes& raw, std::string_view name) { return to_bool(at(raw, name), name); }

bool parse_bool(const RawAttributes& raw, std::string_view name, bool fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? fallback : to_bool(*text, name);
}

std::vector<std::int64_t> parse_ints(const RawAttributes& raw, std::string_view name) {
  return to_list<std::int64_t>(at(raw, name), name, to_int);
}

std::vector<std::int64_t> parse_ints(const RawAttributes& raw, std::string_view name,
                                     std::vector<std::int64_t> fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? std::move(fallback) : to_list<std::int64_t>(*text, name, to_int);
}

std::vector<double> parse_doubles(const RawAttributes& raw, std::string_view name, std::vector<double> fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? std::move(fallback) : to_list<double>(*text, name, to_double);
}

std::string parse_string(const RawAttributes& raw, std::string_view name, std::string_view fallback) {
  const std::string* text = find(raw, name);
  return text == nullptr ? std::string(fallback) : *text;
}

std::string parse_enum(const RawAttributes& raw, std::string_view name, std::string_view fallback,
                       const std::vector<std::string_view>& allowed) {
  const std::string* text = find(raw, name);
  const std::string wanted = lowered(text == nullptr ? fallback : trimmed(*text));
  for (const std::string_view option : allowed) {
    if (lowered(option) == wanted) return std::string(option);
  }
  std::string options;
  for (const std::string_view option : allowed) options += (options.empty() ? "" : ", ") + std::string(option);
  fail_attribute(name, "is " + quoted(wanted) + ", expected one of " + options);
}

}  // namespace headrace
