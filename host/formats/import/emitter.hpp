// SPDX-License-Identifier: Apache-2.0
// What converters of every source format have: what is known of tensors, and short forms of emitting IR operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/import/import_builder.hpp"

namespace headrace::detail {

using Ints = std::vector<std::int64_t>;

// IR's text for attributes.
std::string text(std::int64_t value);
std::string text(double value);
std::string text(const Ints& values);
std::string text(bool value);
inline std::string text(const char* value) { return value; }

// Ints {first, first + 1, ..., last - 1}.
Ints iota(std::int64_t first, std::int64_t last);

// Not thread-safe.
class Emitter {
 public:
  virtual ~Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  // Throws kUnsupported with the reason; the reader puts the node before it.
  [[noreturn]] void refuse(const std::string& reason, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) const;

  // What is known before the run. Those without `optional` throw kUnsupported where it is not known.
  ElementType element_type(PortRef ref) const;
  std::optional<std::size_t> maybe_rank(PortRef ref) const;
  std::size_t rank(PortRef ref) const;
  std::optional<Shape> static_shape(PortRef ref) const;
  Shape shape(PortRef ref) const;
  std::optional<std::int64_t> static_dim(PortRef ref, std::size_t axis) const;
  std::int64_t dim(PortRef ref, std::size_t axis) const;
  // A value that does not depend on the inputs' shapes.
  std::optional<Tensor> value(PortRef ref) const;
  std::optional<Ints> ints(PortRef ref) const;
  Ints need_ints(PortRef ref, std::string_view what) const;
  std::optional<double> scalar(PortRef ref) const;
  // An axis in [0, rank); throws kBadModel outside [-rank, rank).
  std::int64_t axis(std::int64_t axis, std::size_t rank) const;

  // The shape as far as it is known, of unknown rank where nothing is.
  PartialShape partial_shape(PortRef ref) const;

  // Emission.
  PortRef add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
              const RawAttributes& attributes = {}, std::size_t outputs = 1);
  PortRef constant(const Tensor& value);
  PortRef constant_ints(const Ints& values);                  // i64, shape [n]
  PortRef constant_int(std::int64_t value);                   // i64, a scalar
  PortRef constant_floats(const std::vector<float>& values);  // f32, shape [n]
  PortRef constant_scalar(double value, ElementType type);    // a scalar
  PortRef constant_like(double value, PortRef ref);           // a scalar of the tensor's type
  PortRef filled(double value, ElementType type, const Shape& shape);

  PortRef unary(std::string_view type, PortRef x) { return add(type, 1, {x}); }
  PortRef binary(std::string_view type, PortRef a, PortRef b) { return add(type, 1, {a, b}); }
  PortRef reshape(PortRef x, const Ints& shape, bool zero_copies = true);
  PortRef reshape_to(PortRef x, PortRef shape);
  PortRef transpose(PortRef x, const Ints& order);
  PortRef squeeze(PortRef x, const Ints& axes);
  PortRef unsqueeze(PortRef x, const Ints& axes);
  PortRef convert(PortRef x, ElementType type);  // nothing where x has the type
  PortRef concat(const std::vector<PortRef>& parts, std::int64_t axis);
  PortRef gather(PortRef x, PortRef indices, std::int64_t axis);
  PortRef shape_of(PortRef x);                                                         // i64, shape [rank]
  PortRef slice(PortRef x, std::int64_t start, std::int64_t stop, std::int64_t axis);  // step 1
  PortRef reduce(std::string_view type, PortRef x, const Ints& axes, bool keeps_dims);
  PortRef broadcast(PortRef x, PortRef shape);  // numpy rule
  PortRef select(PortRef condition, PortRef yes, PortRef no) { return add("Select", 1, {condition, yes, no}); }

 protected:
  Emitter() = default;
  virtual ImportBuilder& builder() const = 0;  // changes while a body is read
};

}  // namespace headrace::detail
