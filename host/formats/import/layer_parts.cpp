// SPDX-License-Identifier: Apache-2.0
#include "formats/import/layer_parts.hpp"

#include "core/error.hpp"

namespace headrace::detail {

PortRef add_power(Emitter& c, PortRef x, double power, double scale, double shift) {
  PortRef y = x;
  if (scale != 1) y = c.binary("Multiply", y, c.constant_like(scale, x));
  if (shift != 0) y = c.binary("Add", y, c.constant_like(shift, x));
  if (power != 1) y = c.binary("Power", y, c.constant_like(power, x));
  return y;
}

PortRef add_relu(Emitter& c, PortRef x, double negative_slope) {
  if (negative_slope == 0) return c.unary("ReLU", x);
  return c.binary("PReLU", x, c.constant_like(negative_slope, x));
}

PortRef add_joined(Emitter& c, std::string_view type, const std::vector<PortRef>& inputs,
                   const std::vector<double>& coefficients) {
  if (inputs.empty()) fail(ErrorCode::kBadModel, "has no inputs");
  if (!coefficients.empty() && coefficients.size() != inputs.size()) {
    fail(ErrorCode::kBadModel, "has " + std::to_string(coefficients.size()) + " coefficients for " +
                                   std::to_string(inputs.size()) + " inputs, expected one for each");
  }
  const auto term = [&](std::size_t i) {
    const double factor = coefficients.empty() ? 1 : coefficients[i];
    return factor == 1 ? inputs[i] : c.binary("Multiply", inputs[i], c.constant_like(factor, inputs[i]));
  };
  PortRef y = term(0);
  for (std::size_t i = 1; i < inputs.size(); ++i) y = c.binary(type, y, term(i));
  return y;
}

PortRef add_fully_connected(Emitter& c, PortRef x, PortRef weights, std::int64_t axis, bool is_transposed) {
  const auto rank = c.maybe_rank(x);
  if (!rank && (axis < 0 || axis > static_cast<std::int64_t>(kMaxFileRank))) {
    c.refuse("axis " + text(axis) + " of an input of unknown rank");
  }
  const std::int64_t first = rank ? c.axis(axis, *rank) : axis;
  PortRef rows = x;
  if (!rank || static_cast<std::size_t>(first) + 1 != *rank) {
    Ints shape(static_cast<std::size_t>(first), 0);
    shape.push_back(-1);
    rows = c.reshape(x, shape);
  }
  return c.add("MatMul", 1, {rows, weights}, {{"transpose_a", "false"}, {"transpose_b", text(!is_transposed)}});
}

PortRef add_local_response(Emitter& c, PortRef x, const LocalResponse& form) {
  const Ints axes = form.is_across_channels ? Ints{1} : Ints{2, 3};
  return c.add(
      "LRN", 1, {x, c.constant_ints(axes)},
      {{"alpha", text(form.alpha)}, {"beta", text(form.beta)}, {"bias", text(form.k)}, {"size", text(form.size)}});
}

PortRef aligned_to_axis(Emitter& c, PortRef x, std::size_t axis, std::size_t rank) {
  const std::size_t own = c.rank(x);
  if (axis + own > rank) {
    fail(ErrorCode::kBadModel, "axis " + std::to_string(axis) + " leaves no room for an input of rank " +
                                   std::to_string(own) + " in one of rank " + std::to_string(rank));
  }
  return c.unsqueeze(x, iota(static_cast<std::int64_t>(own), static_cast<std::int64_t>(rank - axis)));
}

PortRef add_crop(Emitter& c, PortRef x, PortRef like, const Ints& axes, const Ints& offsets) {
  const PortRef starts = c.constant_ints(offsets);
  const PortRef sizes = c.gather(c.shape_of(like), c.constant_ints(axes), 0);
  const PortRef ones = c.constant_ints(Ints(axes.size(), 1));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const auto from = c.static_dim(x, axis);
    const auto size = c.static_dim(like, axis);
    if (offsets[i] < 0 || (from && size && (*size > *from || offsets[i] > *from - *size))) {
      fail(ErrorCode::kBadModel,
           "the part at offset " + text(offsets[i]) + " of axis " + text(axes[i]) + " leaves the input");
    }
  }
  return c.add("Slice", 8, {x, starts, c.binary("Add", starts, sizes), ones, c.constant_ints(axes)});
}

PortRef height_and_width(Emitter& c, PortRef x) { return c.gather(c.shape_of(x), c.constant_ints({2, 3}), 0); }

PortRef add_bilinear(Emitter& c, PortRef x, PortRef height_width) {
  return c.add("Interpolate", 11, {x, height_width, c.constant_ints({2, 3})},
               {{"mode", "linear_onnx"},
                {"shape_calculation_mode", "sizes"},
                {"coordinate_transformation_mode", "align_corners"},
                {"nearest_mode", "simple"}});
}

}  // namespace headrace::detail
