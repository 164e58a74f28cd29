// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms, as products with matrices of sines and cosines.
#include <cmath>

#include "formats/onnx/onnx_context.hpp"

namespace headrace::detail {
namespace {

// Element [n, k] of a matrix [from, to]: the cosine or sine of 2 pi n k / period.
PortRef wave_matrix(OnnxContext& c, std::int64_t from, std::int64_t to, std::int64_t period, bool is_sine) {
  constexpr std::int64_t kMaxElems = std::int64_t{1} << 24;
  if (from > kMaxElems / std::max<std::int64_t>(to, 1)) c.refuse("a length of " + text(period));
  std::vector<float> values;
  for (std::int64_t n = 0; n < from; ++n) {
    for (std::int64_t k = 0; k < to; ++k) {
      const double angle = 2 * M_PI * static_cast<double>(n * k % period) / static_cast<double>(period);
      values.push_back(static_cast<float>(is_sine ? std::sin(angle) : std::cos(angle)));
    }
  }
  return c.constant(make_f32_tensor({from, to}, values));
}

// x is [..., axis, ..., 1 or 2]: real numbers, or real and imaginary parts. Bins beyond the half are left out where
// onesided is set.
std::vector<PortRef> convert_dft(OnnxContext& c) {
  const PortRef x = c.input(0);
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  std::int64_t axis = c.attr_int("axis", 1);
  if (c.opset() >= 20) axis = c.has_input(2) ? c.need_ints(c.input(2), "axis").at(0) : -2;
  axis = c.axis(axis, static_cast<std::size_t>(rank));
  if (rank < 2 || axis == rank - 1) fail(ErrorCode::kBadModel, "axis " + text(axis) + " of rank " + text(rank));
  const bool is_inverse = c.attr_int("inverse", 0) != 0;
  const bool is_real = c.dim(x, static_cast<std::size_t>(rank - 1)) == 1;
  std::int64_t size = c.dim(x, static_cast<std::size_t>(axis));
  std::int64_t length = size;
  if (c.has_input(1)) length = c.need_ints(c.input(1), "dft_length").at(0);
  if (length < 1) fail(ErrorCode::kBadModel, "its length is " + text(length));
  size = std::min(size, length);  // longer signals are cut, shorter ones end in zeros
  const std::int64_t bins = c.attr_int("onesided", 0) != 0 ? length / 2 + 1 : length;
  // The transformed axis goes last, and back.
  Ints order;
  for (std::int64_t i = 0; i < rank - 1; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const auto part = [&](std::int64_t index) {
    const PortRef plane = c.gather(c.slice(x, 0, size, axis), c.constant_int(index), rank - 1);
    return c.transpose(plane, order);
  };
  const PortRef cosines = wave_matrix(c, size, bins, length, false);
  const PortRef sines = wave_matrix(c, size, bins, length, true);
  PortRef real = c.binary("MatMul", part(0), cosines);
  PortRef imaginary = c.binary("MatMul", part(0), sines);
  if (!is_inverse) imaginary = c.unary("Negative", imaginary);
  if (!is_real) {
    const PortRef other_sines = c.binary("MatMul", part(1), sines);
    const PortRef other_cosines = c.binary("MatMul", part(1), cosines);
    real = c.binary(is_inverse ? "Subtract" : "Add", real, other_sines);
    imaginary = c.binary("Add", imaginary, other_cosines);
  }
  const PortRef joined = c.concat(
      {c.unsqueeze(c.transpose(real, back), {rank - 1}), c.unsqueeze(c.transpose(imaginary, back), {rank - 1})},
      rank - 1);
  if (!is_inverse) return {joined};
  return {c.binary("Divide", joined, c.constant_like(static_cast<double>(length), joined))};
}

constexpr OnnxConverter kConverters[] = {{"DFT", convert_dft}};

}  // namespace

std::span<const OnnxConverter> signal_onnx() { return kConverters; }

}  // namespace headrace::detail
