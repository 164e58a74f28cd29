// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors or change their element type.
#include <cmath>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

std::vector<PortRef> convert_constant(OnnxContext& c) {
  if (c.has_attribute("sparse_value")) c.refuse("sparse_value");
  if (c.has_attribute("value_string") || c.has_attribute("value_strings")) c.refuse("element type STRING");
  if (const auto value = c.attr_tensor("value")) return {c.constant(*value)};
  if (c.has_attribute("value_int")) return {c.constant_int(c.attr_int("value_int", 0))};
  if (c.has_attribute("value_float")) {
    return {c.constant_scalar(c.attr_float("value_float", 0), ElementType::f32)};
  }
  if (const auto ints = c.attr_ints("value_ints")) return {c.constant_ints(*ints)};
  if (c.has_attribute("value_floats")) return {c.constant_floats(c.attr_floats("value_floats"))};
  fail(ErrorCode::kBadModel, "has no value");
}

std::vector<PortRef> convert_constant_of_shape(OnnxContext& c) {
  const auto value = c.attr_tensor("value");
  if (value && value->count() != 1) fail(ErrorCode::kBadModel, "its value has " + text(value->count()) + " elements");
  const PortRef scalar = value ? c.constant(value->reshaped({})) : c.constant_scalar(0, ElementType::f32);
  return {c.broadcast(scalar, c.input(0))};
}

std::vector<PortRef> convert_cast(OnnxContext& c) {
  std::int64_t wanted = c.attr_int("to", 0);
  if (c.opset() < 6 && c.has_attribute("to") && wanted == 0) c.refuse("the names of types of opset " + text(c.opset()));
  const ElementType type = onnx_element_type(static_cast<std::int32_t>(wanted));
  // Always a node: an output of the type that it has already needs a tensor of its own.
  return {c.add("Convert", 1, {c.input(0)}, {{"destination_type", std::string(to_string(type))}})};
}

std::vector<PortRef> convert_cast_like(OnnxContext& c) { return {c.add("ConvertLike", 8, {c.input(0), c.input(1)})}; }

PortRef as_scalar(OnnxContext& c, PortRef x) { return c.maybe_rank(x).value_or(0) == 0 ? x : c.reshape(x, {}); }

std::vector<PortRef> convert_range(OnnxContext& c) {
  const PortRef start = as_scalar(c, c.input(0));
  return {c.add("Range", 4, {start, as_scalar(c, c.input(1)), as_scalar(c, c.input(2))},
                {{"output_type", std::string(to_string(c.element_type(start)))}})};
}

std::vector<PortRef> convert_eye_like(OnnxContext& c) {
  const PortRef x = c.input(0);
  ElementType type = c.element_type(x);
  if (c.has_attribute("dtype")) type = onnx_element_type(static_cast<std::int32_t>(c.attr_int("dtype", 1)));
  if (c.rank(x) != 2) fail(ErrorCode::kBadModel, "its input has rank " + text(static_cast<std::int64_t>(c.rank(x))));
  const PortRef shape = c.shape_of(x);
  const PortRef rows = c.gather(shape, c.constant_int(0), 0);
  const PortRef columns = c.gather(shape, c.constant_int(1), 0);
  const PortRef zero = c.constant_int(0);
  const PortRef one = c.constant_int(1);
  const RawAttributes i64 = {{"output_type", "i64"}};
  // Element [i, j] is 1 where j - i is k.
  const PortRef i = c.unsqueeze(c.add("Range", 4, {zero, rows, one}, i64), {1});
  const PortRef j = c.unsqueeze(c.add("Range", 4, {zero, columns, one}, i64), {0});
  const PortRef is_on = c.binary("Equal", c.binary("Subtract", j, i), c.constant_int(c.attr_int("k", 0)));
  return {c.select(is_on, c.constant_scalar(1, type), c.constant_scalar(0, type))};
}

// Keeps what is on or above (upper) or on or below diagonal k, zero elsewhere.
std::vector<PortRef> convert_trilu(OnnxContext& c) {
  const PortRef x = c.input(0);
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  if (rank < 2) fail(ErrorCode::kBadModel, "its input has rank " + text(rank));
  const PortRef shape = c.shape_of(x);
  const PortRef rows = c.gather(shape, c.constant_int(rank - 2), 0);
  const PortRef columns = c.gather(shape, c.constant_int(rank - 1), 0);
  const RawAttributes i64 = {{"output_type", "i64"}};
  const PortRef zero = c.constant_int(0);
  const PortRef one = c.constant_int(1);
  const PortRef i = c.unsqueeze(c.add("Range", 4, {zero, rows, one}, i64), {1});
  const PortRef j = c.unsqueeze(c.add("Range", 4, {zero, columns, one}, i64), {0});
  const PortRef k = c.has_input(1) ? as_scalar(c, c.input(1)) : zero;
  const bool is_upper = c.attr_int("upper", 1) != 0;
  const PortRef is_kept = c.binary(is_upper ? "GreaterEqual" : "LessEqual", c.binary("Subtract", j, i), k);
  return {c.select(is_kept, x, c.constant_like(0, x))};
}

// 0.5 - 0.5 * cos(2 pi n / N) and the like, from the size at run time.
std::vector<PortRef> convert_window(OnnxContext& c) {
  const auto wanted = static_cast<std::int32_t>(c.attr_int("output_datatype", 1));
  const ElementType type = onnx_element_type(wanted);
  const PortRef size = c.convert(as_scalar(c, c.input(0)), ElementType::f32);
  const bool is_periodic = c.attr_int("periodic", 1) != 0;
  const auto f32 = [&](double value) { return c.constant_scalar(value, ElementType::f32); };
  const PortRef n = c.add("Range", 4, {f32(0), size, f32(1)}, {{"output_type", "f32"}});
  const PortRef period = is_periodic ? size : c.binary("Subtract", size, f32(1));
  const PortRef angle = c.binary("Divide", c.binary("Multiply", n, f32(2 * M_PI)), period);
  const std::string_view kind = c.node().op_type;
  // Hann: 0.5; Hamming: 25/46, as ONNX has it; Blackman: three terms.
  const double a0 = kind == "HannWindow" ? 0.5 : kind == "HammingWindow" ? 25.0 / 46.0 : 0.42;
  const double a1 = kind == "BlackmanWindow" ? 0.5 : 1 - a0;
  PortRef window = c.binary("Subtract", f32(a0), c.binary("Multiply", c.unary("Cos", angle), f32(a1)));
  if (kind == "BlackmanWindow") {
    const PortRef twice = c.unary("Cos", c.binary("Multiply", angle, f32(2)));
    window = c.binary("Add", window, c.binary("Multiply", twice, f32(0.08)));
  }
  return {c.convert(window, type)};
}

constexpr OnnxConverter kConverters[] = {
    {"Constant", convert_constant},
    {"ConstantOfShape", convert_constant_of_shape},
    {"Cast", convert_cast},
    {"CastLike", convert_cast_like},
    {"Range", convert_range},
    {"EyeLike", convert_eye_like},
    {"Trilu", convert_trilu},
    {"HannWindow", convert_window},
    {"HammingWindow", convert_window},
    {"BlackmanWindow", convert_window},
};

}  // namespace

std::span<const OnnxConverter> constant_onnx() { return kConverters; }

}  // namespace headrace::detail
