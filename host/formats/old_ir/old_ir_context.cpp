// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_context.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/file.hpp"
#include "formats/import/converter_index.hpp"

namespace headrace::detail {
namespace {

constexpr std::string_view kValue = "value";

// The attribute under one name, for the parsers of attributes.
RawAttributes only(std::string_view text) { return {{std::string(kValue), std::string(text)}}; }

template <typename Read>
auto named(std::initializer_list<std::string_view> names, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    rethrow_with_prefix(error, std::string(*names.begin()));
  }
}

}  // namespace

std::string lowercase(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

const std::string* OldIrContext::find(Names names) const {
  for (const std::string_view name : names) {
    if (const auto found = layer_.data.find(name); found != layer_.data.end()) return &found->second;
  }
  return nullptr;
}

std::int64_t OldIrContext::get_int(Names names, std::int64_t fallback) const {
  const std::string* text = find(names);
  if (text == nullptr) return fallback;
  return named(names, [&] {
    const double value = parse_double(only(*text), kValue);
    constexpr double kMost = 1e15;  // exact as a double
    if (std::abs(value) < kMost && value == std::floor(value)) return static_cast<std::int64_t>(value);
    return parse_int(only(*text), kValue);  // tells what it is
  });
}

double OldIrContext::get_float(Names names, double fallback) const {
  const std::string* text = find(names);
  return text == nullptr ? fallback : named(names, [&] { return parse_double(only(*text), kValue); });
}

bool OldIrContext::get_bool(Names names, bool fallback) const {
  const std::string* text = find(names);
  return text == nullptr ? fallback : named(names, [&] { return parse_bool(only(*text), kValue); });
}

std::string OldIrContext::get_string(Names names, std::string_view fallback) const {
  const std::string* text = find(names);
  return lowercase(text == nullptr ? fallback : std::string_view(*text));
}

std::optional<Ints> OldIrContext::get_ints(Names names) const {
  const std::string* text = find(names);
  if (text == nullptr) return std::nullopt;
  return named(names, [&] { return parse_ints(only(*text), kValue); });
}

std::vector<double> OldIrContext::get_floats(Names names) const {
  const std::string* text = find(names);
  if (text == nullptr) return {};
  return named(names, [&] { return parse_doubles(only(*text), kValue, {}); });
}

PortRef OldIrContext::input(std::size_t index) const {
  if (index < inputs_.size()) return inputs_[index];
  fail(ErrorCode::kBadModel,
       "needs input " + std::to_string(index) + ", has " + std::to_string(inputs_.size()) + " inputs");
}

const Shape& OldIrContext::output_shape(std::size_t index) const {
  if (index < layer_.outputs.size()) return layer_.outputs[index].dims;
  fail(ErrorCode::kBadModel, "has no output port " + std::to_string(index));
}

const OldIrBlob& OldIrContext::at_blob(std::string_view name) const {
  const auto found = layer_.blobs.find(name);
  if (found == layer_.blobs.end()) fail(ErrorCode::kBadModel, "has no <" + std::string(name) + ">");
  return found->second;
}

std::int64_t OldIrContext::count_values(std::string_view name) const {
  const OldIrBlob& blob = at_blob(name);
  return blob.size / static_cast<std::int64_t>(size_bytes(old_ir_type(blob.precision)));
}

Tensor OldIrContext::stored_blob(std::string_view name, const Shape& shape) const {
  try {
    return read_old_ir_blob(at_blob(name), shape, weights_);
  } catch (const Error& error) {
    rethrow_with_prefix(error, "<" + std::string(name) + ">");
  }
}

PortRef OldIrContext::blob(std::string_view name, const Shape& shape) {
  return convert(constant(stored_blob(name, shape)), ElementType::f32);
}

ElementType old_ir_type(const std::string& precision) {
  static const std::map<std::string_view, ElementType> kTypes = {{"FP32", ElementType::f32}, {"FP16", ElementType::f16},
                                                                 {"I32", ElementType::i32},  {"I64", ElementType::i64},
                                                                 {"I8", ElementType::i8},    {"U8", ElementType::u8}};
  const auto found = kTypes.find(precision);
  if (found == kTypes.end()) fail(ErrorCode::kUnsupported, "precision " + quote(precision));
  return found->second;
}

Tensor read_old_ir_blob(const OldIrBlob& blob, const Shape& shape, const WeightsBlob& weights) {
  const ElementType type = old_ir_type(blob.precision);
  if (!is_countable(shape)) fail(ErrorCode::kBadModel, "the impossible shape " + to_string(shape));
  const auto wanted = count_elems(shape) * static_cast<std::int64_t>(size_bytes(type));
  if (blob.size != wanted) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(blob.size) + " bytes, but shape " + to_string(shape) + " of " +
                                   std::string(to_string(type)) + " has " + std::to_string(wanted));
  }
  if (wanted == 0) return Tensor(type, shape);
  const std::string needs = "needs " + std::to_string(blob.size) + " bytes at offset " + std::to_string(blob.offset) +
                            " of " + quote(weights.name) + ", ";
  if (!weights.problem.empty()) fail(ErrorCode::kBadModel, needs + "but " + weights.problem);
  const auto size = static_cast<std::int64_t>(weights.bytes.size());
  if (blob.offset < 0 || blob.size > size || blob.offset > size - blob.size) {
    fail(ErrorCode::kBadModel, needs + "the file has " + std::to_string(size) + " bytes");
  }
  const std::byte* data = weights.bytes.data() + blob.offset;
  return value_of_stored(Tensor(type, shape, weights.owner, data));
}

std::vector<std::span<const OldIrConverter>> old_ir_converter_table();  // written by cmake/tables.cmake

const OldIrConverter* find_old_ir_converter(std::string_view type) {
  static const auto kByType = index_converters(
      old_ir_converter_table(), [](const OldIrConverter& converter) { return lowercase(converter.type); });
  return find_converter(kByType, lowercase(type));
}

}  // namespace headrace::detail
