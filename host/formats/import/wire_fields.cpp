// SPDX-License-Identifier: Apache-2.0
#include "formats/import/wire_fields.hpp"

#include <google/protobuf/wire_format_lite.h>

#include <bit>
#include <string>

#include "core/error.hpp"

namespace headrace::detail {
namespace {

using google::protobuf::internal::WireFormatLite;

}  // namespace

WireFields::WireFields(std::span<const std::byte> bytes, std::string_view what)
    : stream_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())), what_(what) {}

bool WireFields::next() {
  if (!is_taken_ && !WireFormatLite::SkipField(&stream_, tag_)) fail_here();
  tag_ = stream_.ReadTag();
  if (tag_ == 0) {
    if (!stream_.ConsumedEntireMessage()) fail_here();
    return false;
  }
  number_ = WireFormatLite::GetTagFieldNumber(tag_);
  is_taken_ = false;
  return true;
}

bool WireFields::is_length_delimited() const {
  return WireFormatLite::GetTagWireType(tag_) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
}

void WireFields::need(std::uint32_t wire_type) {
  if (static_cast<std::uint32_t>(WireFormatLite::GetTagWireType(tag_)) != wire_type) fail_here();
  is_taken_ = true;
}

std::span<const std::byte> WireFields::bytes() {
  need(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  std::uint32_t length = 0;
  if (!stream_.ReadVarint32(&length)) fail_here();
  const void* data = nullptr;
  int available = 0;
  if (length == 0) return {};
  if (!stream_.GetDirectBufferPointer(&data, &available) || length > static_cast<std::uint32_t>(available)) fail_here();
  stream_.Skip(static_cast<int>(length));
  return {static_cast<const std::byte*>(data), length};
}

std::string_view WireFields::text() {
  const std::span<const std::byte> span = bytes();
  return {reinterpret_cast<const char*>(span.data()), span.size()};
}

std::int64_t WireFields::int64() {
  need(WireFormatLite::WIRETYPE_VARINT);
  std::uint64_t value = 0;
  if (!stream_.ReadVarint64(&value)) fail_here();
  return static_cast<std::int64_t>(value);
}

float WireFields::float32() {
  need(WireFormatLite::WIRETYPE_FIXED32);
  std::uint32_t bits = 0;
  if (!stream_.ReadLittleEndian32(&bits)) fail_here();
  return std::bit_cast<float>(bits);
}

double WireFields::float64() {
  need(WireFormatLite::WIRETYPE_FIXED64);
  std::uint64_t bits = 0;
  if (!stream_.ReadLittleEndian64(&bits)) fail_here();
  return std::bit_cast<double>(bits);
}

void WireFields::append_int64s(std::vector<std::int64_t>& values) {
  if (!is_length_delimited()) {
    values.push_back(int64());
    return;
  }
  const std::span<const std::byte> packed = bytes();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  while (stream.CurrentPosition() < static_cast<int>(packed.size())) {
    std::uint64_t value = 0;
    if (!stream.ReadVarint64(&value)) fail_here();
    values.push_back(static_cast<std::int64_t>(value));
  }
}

void WireFields::append_floats(std::vector<float>& values) {
  if (!is_length_delimited()) {
    values.push_back(float32());
    return;
  }
  const std::span<const std::byte> packed = bytes();
  if (packed.size() % sizeof(float) != 0) fail_here();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  values.reserve(values.size() + packed.size() / sizeof(float));
  for (std::size_t i = 0; i < packed.size() / sizeof(float); ++i) {
    std::uint32_t bits = 0;
    if (!stream.ReadLittleEndian32(&bits)) fail_here();
    values.push_back(std::bit_cast<float>(bits));
  }
}

void WireFields::append_doubles(std::vector<double>& values) {
  if (!is_length_delimited()) {
    values.push_back(float64());
    return;
  }
  const std::span<const std::byte> packed = bytes();
  if (packed.size() % sizeof(double) != 0) fail_here();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  values.reserve(values.size() + packed.size() / sizeof(double));
  for (std::size_t i = 0; i < packed.size() / sizeof(double); ++i) {
    std::uint64_t bits = 0;
    if (!stream.ReadLittleEndian64(&bits)) fail_here();
    values.push_back(std::bit_cast<double>(bits));
  }
}

void WireFields::fail_here() const {
  fail(ErrorCode::kBadModel, "damaged protobuf: " + std::string(what_) +
                                 (number_ == 0 ? "" : ", at or behind field " + std::to_string(number_)));
}

}  // namespace headrace::detail
