// SPDX-License-Identifier: Apache-2.0
// Typed access to the fields of one message of a .prototxt, with Caffe's defaults given by who asks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/caffe/proto_text.hpp"

namespace headrace::detail {

// Remembers what was asked for, so that a field that nobody understands is refused and not passed over: forks of Caffe
// add fields that change what a layer computes. Each reader throws kBadModel naming the field where its text is of
// another kind, or where a field that has one value has several. Not thread-safe.
class CaffeParams {
 public:
  // `message` may be null: every field is absent.
  CaffeParams(std::string name, const ProtoText* message) : name_(std::move(name)), message_(message) {}

  bool has(std::string_view field) const;
  std::int64_t get_int(std::string_view field, std::int64_t fallback) const;  // 32 bits
  double get_float(std::string_view field, double fallback) const;
  bool get_bool(std::string_view field, bool fallback) const;
  std::string get_string(std::string_view field, std::string_view fallback) const;
  // An enumerator by its name or its number; returns the name. The list is {name, number}.
  using Enumerators = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  std::string get_enum(std::string_view field, std::string_view fallback, const Enumerators& known) const;

  std::vector<std::int64_t> ints(std::string_view field) const;  // 64 bits
  std::vector<double> floats(std::string_view field) const;
  std::vector<std::string> strings(std::string_view field) const;

  // A message of one, absent or not; and repeated ones.
  CaffeParams message(std::string_view field) const;
  std::vector<CaffeParams> messages(std::string_view field) const;

  // Throws kUnsupported naming a field that nobody asked for; those that only matter in training are let through.
  void check_all_asked() const;

 private:
  std::vector<const ProtoText*> find(std::string_view field) const;
  const ProtoText* find_one(std::string_view field) const;
  [[noreturn]] void fail_value(const ProtoText& field, const char* expected) const;
  std::int64_t int_of(const ProtoText& field, std::int64_t min, std::int64_t max) const;
  double float_of(const ProtoText& field) const;

  std::string name_;  // for messages: "convolution_param"
  const ProtoText* message_;
  mutable std::set<std::string_view> asked_;
};

}  // namespace headrace::detail
