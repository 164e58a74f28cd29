// SPDX-License-Identifier: Apache-2.0
#include "formats/import/emitter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {

void Emitter::refuse(const std::string& reason, const char* file, int line) const {
  fail(ErrorCode::kUnsupported, reason, file, line);
}

ElementType Emitter::element_type(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  if (!known.type) refuse("the element type of an input is not known");
  return *known.type;
}

std::optional<std::size_t> Emitter::maybe_rank(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  for (const KnownTensor::Trial& trial : known.trials) {
    if (trial.shape) return trial.shape->size();
  }
  return std::nullopt;
}

std::size_t Emitter::rank(PortRef ref) const {
  if (const auto known = maybe_rank(ref)) return *known;
  refuse("the rank of an input is not known before the run");
}

std::optional<std::int64_t> Emitter::static_dim(PortRef ref, std::size_t axis) const {
  const KnownTensor& known = builder().known(ref);
  const auto& [first, second] = known.trials;
  if (!first.shape || !second.shape || axis >= first.shape->size() || axis >= second.shape->size()) return std::nullopt;
  if ((*first.shape)[axis] != (*second.shape)[axis]) return std::nullopt;
  return (*first.shape)[axis];
}

std::int64_t Emitter::dim(PortRef ref, std::size_t axis) const {
  if (const auto known = static_dim(ref, axis)) return *known;
  refuse("dimension " + std::to_string(axis) + " of an input is not known before the run");
}

std::optional<Shape> Emitter::static_shape(PortRef ref) const {
  const auto count = maybe_rank(ref);
  if (!count) return std::nullopt;
  Shape result;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto size = static_dim(ref, i);
    if (!size) return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

Shape Emitter::shape(PortRef ref) const {
  if (const auto known = static_shape(ref)) return *known;
  refuse("the shape of an input is not known before the run");
}

PartialShape Emitter::partial_shape(PortRef ref) const {
  PartialShape shape;
  const auto count = maybe_rank(ref);
  shape.is_rank_known = count.has_value();
  for (std::size_t i = 0; i < count.value_or(0); ++i) {
    const auto size = static_dim(ref, i);
    shape.dims.push_back(size ? Dimension{*size, *size} : Dimension{});
  }
  return shape;
}

std::optional<Tensor> Emitter::value(PortRef ref) const {
  const KnownTensor& known = builder().known(ref);
  const auto& [first, second] = known.trials;
  if (known.is_accidental || !first.value || !second.value) return std::nullopt;
  const Tensor& a = *first.value;
  const Tensor& b = *second.value;
  if (a.type() != b.type() || a.shape() != b.shape()) return std::nullopt;
  if (a.data() != b.data() && std::memcmp(a.data(), b.data(), a.size_bytes()) != 0) return std::nullopt;
  return a.aligned_copy();
}

std::optional<Ints> Emitter::ints(PortRef ref) const {
  const auto known = value(ref);
  if (!known) return std::nullopt;
  return to_int64s(*known);
}

Ints Emitter::need_ints(PortRef ref, std::string_view what) const {
  if (const auto known = ints(ref)) return *known;
  refuse("its " + std::string(what) + " is computed in the run, expected a constant");
}

std::optional<double> Emitter::scalar(PortRef ref) const {
  const auto known = value(ref);
  if (!known || known->count() != 1) return std::nullopt;
  return to_doubles(*known)[0];
}

std::int64_t Emitter::axis(std::int64_t axis, std::size_t rank) const {
  try {
    return normalize_axis(axis, rank, "axis");
  } catch (const Error& error) {
    fail(ErrorCode::kBadModel, error.what());
  }
}

PortRef Emitter::add(std::string_view type, std::int32_t opset, const std::vector<PortRef>& inputs,
                     const RawAttributes& attributes, std::size_t outputs) {
  return builder().add(type, opset, inputs, attributes, outputs);
}

PortRef Emitter::constant(const Tensor& value) { return builder().add_constant(value); }

PortRef Emitter::constant_ints(const Ints& values) {
  return constant(make_i64_tensor({static_cast<std::int64_t>(values.size())}, values));
}

PortRef Emitter::constant_int(std::int64_t value) { return constant(make_i64_tensor({}, std::span(&value, 1))); }

PortRef Emitter::constant_floats(const std::vector<float>& values) {
  return constant(make_f32_tensor({static_cast<std::int64_t>(values.size())}, values));
}

PortRef Emitter::constant_scalar(double value, ElementType type) {
  if (!is_floating(type)) {
    constexpr double kEnd = 0x1p63;
    const bool fits = value >= -kEnd && value < kEnd && value == std::trunc(value);
    if (!fits) refuse("the number " + text(value) + " for tensors of " + std::string(to_string(type)));
    const auto integer = static_cast<std::int64_t>(value);
    return constant(headrace::convert(make_i64_tensor({}, std::span(&integer, 1)), type));
  }
  const auto number = static_cast<float>(value);
  return constant(headrace::convert(make_f32_tensor({}, std::span(&number, 1)), type));
}

PortRef Emitter::constant_like(double value, PortRef ref) { return constant_scalar(value, element_type(ref)); }

PortRef Emitter::filled(double value, ElementType type, const Shape& shape) {
  return broadcast(constant_scalar(value, type), constant_ints(shape));
}

PortRef Emitter::reshape(PortRef x, const Ints& shape, bool zero_copies) {
  return add("Reshape", 1, {x, constant_ints(shape)}, {{"special_zero", text(zero_copies)}});
}

PortRef Emitter::reshape_to(PortRef x, PortRef shape) {
  return add("Reshape", 1, {x, shape}, {{"special_zero", "false"}});
}

PortRef Emitter::transpose(PortRef x, const Ints& order) { return add("Transpose", 1, {x, constant_ints(order)}); }

PortRef Emitter::squeeze(PortRef x, const Ints& axes) {
  return axes.empty() ? x : add("Squeeze", 1, {x, constant_ints(axes)});
}

PortRef Emitter::unsqueeze(PortRef x, const Ints& axes) {
  return axes.empty() ? x : add("Unsqueeze", 1, {x, constant_ints(axes)});
}

PortRef Emitter::convert(PortRef x, ElementType type) {
  if (builder().known(x).type == type) return x;
  return add("Convert", 1, {x}, {{"destination_type", std::string(to_string(type))}});
}

PortRef Emitter::concat(const std::vector<PortRef>& parts, std::int64_t axis) {
  return parts.size() == 1 ? parts[0] : add("Concat", 1, parts, {{"axis", text(axis)}});
}

PortRef Emitter::gather(PortRef x, PortRef indices, std::int64_t axis) {
  return add("Gather", 8, {x, indices, constant_int(axis)}, {{"batch_dims", "0"}});
}

PortRef Emitter::shape_of(PortRef x) { return add("ShapeOf", 3, {x}, {{"output_type", "i64"}}); }

PortRef Emitter::slice(PortRef x, std::int64_t start, std::int64_t stop, std::int64_t axis) {
  return add("Slice", 8, {x, constant_ints({start}), constant_ints({stop}), constant_ints({1}), constant_ints({axis})});
}

PortRef Emitter::reduce(std::string_view type, PortRef x, const Ints& axes, bool keeps_dims) {
  return add(type, type == "ReduceL1" || type == "ReduceL2" ? 4 : 1, {x, constant_ints(axes)},
             {{"keep_dims", text(keeps_dims)}});
}

PortRef Emitter::broadcast(PortRef x, PortRef shape) { return add("Broadcast", 3, {x, shape}, {{"mode", "numpy"}}); }

std::string text(std::int64_t value) { return std::to_string(value); }
std::string text(double value) { return to_string(AttributeValue(value)); }
std::string text(const Ints& values) { return to_string(AttributeValue(values)); }
std::string text(bool value) { return value ? "true" : "false"; }

Ints iota(std::int64_t first, std::int64_t last) {
  Ints values(static_cast<std::size_t>(std::max<std::int64_t>(last - first, 0)));
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace headrace::detail
