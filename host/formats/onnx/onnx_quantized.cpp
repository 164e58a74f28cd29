// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_quantized.hpp"

#include "formats/onnx/onnx_window.hpp"

namespace headrace::detail {

PortRef along_axis(OnnxContext& c, PortRef values, OnnxAxis axis) {
  const std::size_t rank = c.rank(values);
  if (rank == 0 || axis.rank == 0) return values;
  if (rank == 1 && c.static_dim(values, 0) == 1) return reshape_constant(c, values, {});
  if (rank != 1) return values;
  Shape shape(axis.rank, 1);
  shape[axis.axis] = c.dim(values, 0);
  return reshape_constant(c, values, shape);
}

PortRef without_zero_point(OnnxContext& c, PortRef x, std::optional<PortRef> zero_point, ElementType type,
                           OnnxAxis axis) {
  const PortRef wide = c.convert(x, type);
  if (!zero_point) return wide;
  if (const auto value = c.value(*zero_point)) {
    bool is_zero = true;
    for (const std::int64_t entry : to_int64s(*value)) is_zero = is_zero && entry == 0;
    if (is_zero) return wide;
  }
  return c.binary("Subtract", wide, c.convert(along_axis(c, *zero_point, axis), type));
}

PortRef quantize(OnnxContext& c, PortRef x, std::optional<PortRef> zero_point, OnnxAxis axis) {
  const ElementType type = zero_point ? c.element_type(*zero_point) : ElementType::u8;
  if (type != ElementType::u8 && type != ElementType::i8) c.refuse("element type " + std::string(to_string(type)));
  PortRef level = c.add("Round", 5, {x}, {{"mode", "half_to_even"}});
  if (zero_point) {
    level = c.binary("Add", level, c.convert(along_axis(c, *zero_point, axis), c.element_type(x)));
  }
  const bool is_signed = type == ElementType::i8;
  const PortRef bounded =
      c.add("Clamp", 1, {level}, {{"min", is_signed ? "-128" : "0"}, {"max", is_signed ? "127" : "255"}});
  return c.convert(bounded, type);
}

}  // namespace headrace::detail
