// SPDX-License-Identifier: Apache-2.0
// Walks the fields of one protobuf message in memory without copying it.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headrace::detail {

// One pass over a message: next(), then number() says the field, and one of the readers takes its value; a field that
// none of them takes is skipped by the following next(). Protobuf's own stream does the decoding, so the limits of its
// varints and groups hold. Throws kBadModel. Not thread-safe.
class WireFields {
 public:
  // `what` names the message in errors ("TensorProto").
  WireFields(std::span<const std::byte> bytes, std::string_view what);

  // Goes to the next field. Returns false at the message's end.
  bool next();
  int number() const { return number_; }
  // Whether the field is a string, bytes, a message or packed values.
  bool is_length_delimited() const;

  // The value of a length-delimited field: a string, bytes or a message.
  std::span<const std::byte> bytes();
  std::string_view text();
  // The value of a varint field.
  std::int64_t int64();
  std::int32_t int32() { return static_cast<std::int32_t>(int64()); }
  // The value of a fixed 32-bit field.
  float float32();
  // The value of a fixed 64-bit field.
  double float64();

  // Appends the values of a repeated field, in its packed or its plain form.
  void append_int64s(std::vector<std::int64_t>& values);
  void append_floats(std::vector<float>& values);
  void append_doubles(std::vector<double>& values);

 private:
  void need(std::uint32_t wire_type);
  [[noreturn]] void fail_here() const;

  google::protobuf::io::CodedInputStream stream_;
  std::string_view what_;
  std::uint32_t tag_ = 0;
  int number_ = 0;
  bool is_taken_ = true;
};

}  // namespace headrace::detail
