// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_params.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

// How weights are filled before training, and which library computes.
constexpr std::string_view kOnlyTraining[] = {"weight_filler", "bias_filler",     "filler",
                                              "engine",        "force_nd_im2col", "cudnn_math_override"};

template <typename T>
bool parses(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Decimal, 0x... or 0... for octal, as the text format has them.
bool parses_int(std::string_view text, std::int64_t& value) {
  const bool is_negative = text.starts_with('-');
  const std::string_view digits = is_negative ? text.substr(1) : text;
  int base = 10;
  std::string_view rest = digits;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    rest = digits.substr(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
    rest = digits.substr(1);
  }
  if (rest.empty() || rest[0] == '-') return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (error != std::errc() || end != rest.data() + rest.size()) return false;
  if (is_negative) value = -value;
  return true;
}

}  // namespace

std::vector<const ProtoText*> CaffeParams::find(std::string_view field) const {
  asked_.insert(field);
  std::vector<const ProtoText*> found;
  if (message_ == nullptr) return found;
  for (const ProtoText& item : message_->fields) {
    if (item.name == field) found.push_back(&item);
  }
  return found;
}

const ProtoText* CaffeParams::find_one(std::string_view field) const {
  const auto found = find(field);
  if (found.size() > 1) {
    fail(ErrorCode::kBadModel,
         name_ + ": line " + std::to_string(found[1]->line) + " gives " + quote(field) + " again, expected one value");
  }
  return found.empty() ? nullptr : found[0];
}

void CaffeParams::fail_value(const ProtoText& field, const char* expected) const {
  const std::string got = field.is_message ? "a message" : quote(field.value);
  fail(ErrorCode::kBadModel, name_ + ": field " + quote(field.name) + " in line " + std::to_string(field.line) +
                                 " is " + got + ", expected " + expected);
}

std::int64_t CaffeParams::int_of(const ProtoText& field, std::int64_t min, std::int64_t max) const {
  std::int64_t value = 0;
  if (field.is_message || field.is_string || !parses_int(field.value, value) || value < min || value > max) {
    fail_value(field, "an integer");
  }
  return value;
}

double CaffeParams::float_of(const ProtoText& field) const {
  std::string_view text = field.value;
  const bool is_hex = text.starts_with("0x") || text.starts_with("-0x");
  if (text.size() > 1 && (text.back() == 'f' || text.back() == 'F') && !text.ends_with("inf") && !is_hex) {
    text.remove_suffix(1);
  }
  double value = 0;
  if (field.is_message || field.is_string || !parses(text, value)) fail_value(field, "a number");
  return value;
}

bool CaffeParams::has(std::string_view field) const { return !find(field).empty(); }

std::int64_t CaffeParams::get_int(std::string_view field, std::int64_t fallback) const {
  const ProtoText* found = find_one(field);
  if (found == nullptr) return fallback;
  return int_of(*found, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
}

double CaffeParams::get_float(std::string_view field, double fallback) const {
  const ProtoText* found = find_one(field);
  return found == nullptr ? fallback : float_of(*found);
}

bool CaffeParams::get_bool(std::string_view field, bool fallback) const {
  const ProtoText* found = find_one(field);
  if (found == nullptr) return fallback;
  const std::string& text = found->value;
  if (!found->is_message && !found->is_string) {
    if (text == "true" || text == "True" || text == "t" || text == "1") return true;
    if (text == "false" || text == "False" || text == "f" || text == "0") return false;
  }
  fail_value(*found, "true or false");
}

std::string CaffeParams::get_string(std::string_view field, std::string_view fallback) const {
  const ProtoText* found = find_one(field);
  if (found == nullptr) return std::string(fallback);
  if (!found->is_string) fail_value(*found, "a string");
  return found->value;
}

std::string CaffeParams::get_enum(std::string_view field, std::string_view fallback, const Enumerators& known) const {
  const ProtoText* found = find_one(field);
  if (found == nullptr) return std::string(fallback);
  if (!found->is_message && !found->is_string) {
    for (const auto& [name, number] : known) {
      if (found->value == name || found->value == number) return std::string(name);
    }
  }
  std::string expected;
  for (const auto& [name, number] : known) expected += (expected.empty() ? "" : ", ") + std::string(name);
  fail_value(*found, ("one of " + expected).c_str());
}

std::vector<std::int64_t> CaffeParams::ints(std::string_view field) const {
  std::vector<std::int64_t> values;
  for (const ProtoText* found : find(field)) {
    values.push_back(
        int_of(*found, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
  }
  return values;
}

std::vector<double> CaffeParams::floats(std::string_view field) const {
  std::vector<double> values;
  for (const ProtoText* found : find(field)) values.push_back(float_of(*found));
  return values;
}

std::vector<std::string> CaffeParams::strings(std::string_view field) const {
  std::vector<std::string> values;
  for (const ProtoText* found : find(field)) {
    if (!found->is_string) fail_value(*found, "a string");
    values.push_back(found->value);
  }
  return values;
}

CaffeParams CaffeParams::message(std::string_view field) const {
  const ProtoText* found = find_one(field);
  if (found != nullptr && !found->is_message) fail_value(*found, "a message");
  return {std::string(field), found};
}

std::vector<CaffeParams> CaffeParams::messages(std::string_view field) const {
  std::vector<CaffeParams> result;
  for (const ProtoText* found : find(field)) {
    if (!found->is_message) fail_value(*found, "a message");
    result.emplace_back(std::string(field), found);
  }
  return result;
}

void CaffeParams::check_all_asked() const {
  if (message_ == nullptr) return;
  for (const ProtoText& field : message_->fields) {
    if (asked_.count(field.name) != 0) continue;
    if (std::find(std::begin(kOnlyTraining), std::end(kOnlyTraining), field.name) != std::end(kOnlyTraining)) continue;
    fail(ErrorCode::kUnsupported,
         "field " + quote(field.name) + " of " + name_ + " in line " + std::to_string(field.line) + " is not known");
  }
}

}  // namespace headrace::detail
