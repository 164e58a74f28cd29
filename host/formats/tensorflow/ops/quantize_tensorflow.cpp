// SPDX-License-Identifier: Apache-2.0
// Fake quantization.
#include <algorithm>
#include <cmath>

#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

struct Range {
  std::vector<float> low;
  std::vector<float> high;
};

// Moves a range so that zero is one of its levels (TensorFlow's "nudging", fake_quant_ops_functor.h).
Range nudged(const std::vector<double>& low, const std::vector<double>& high, float first, float last) {
  Range range;
  for (std::size_t i = 0; i < low.size(); ++i) {
    const auto min = static_cast<float>(low[i]);
    const auto max = static_cast<float>(high[i]);
    const float scale = (max - min) / (last - first);
    const float zero = first - min / scale;
    const float place = zero < first ? first : zero > last ? last : std::round(zero);
    range.low.push_back((first - place) * scale);
    range.high.push_back((last - place) * scale);
  }
  return range;
}

TensorflowValues quantize(TensorflowContext& c, const std::vector<double>& low, const std::vector<double>& high) {
  const std::int64_t bits = c.attr_int("num_bits", 8);
  if (bits < 2 || bits > 16) fail(ErrorCode::kBadModel, "num_bits is " + text(bits));
  const std::int64_t first = c.attr_bool("narrow_range", false) ? 1 : 0;
  const std::int64_t last = (std::int64_t{1} << bits) - 1;
  if (low.empty() || low.size() != high.size()) fail(ErrorCode::kBadModel, "min and max do not fit each other");
  const Range range = nudged(low, high, static_cast<float>(first), static_cast<float>(last));
  const bool is_scalar = low.size() == 1;
  const Shape shape = is_scalar ? Shape{} : Shape{static_cast<std::int64_t>(low.size())};
  const PortRef from = c.constant(make_f32_tensor(shape, range.low));
  const PortRef to = c.constant(make_f32_tensor(shape, range.high));
  return {c.add("FakeQuantize", 1, {c.input(0), from, to, from, to},
                {{"levels", text(last - first + 1)}, {"auto_broadcast", "numpy"}})};
}

TensorflowValues convert_fake_quant_vars(TensorflowContext& c) {
  const auto low = c.value(c.input(1));
  const auto high = c.value(c.input(2));
  if (!low || !high) c.refuse("a range that is computed in the run");
  return quantize(c, to_doubles(*low), to_doubles(*high));
}

TensorflowValues convert_fake_quant_args(TensorflowContext& c) {
  return quantize(c, {c.attr_float("min", -6)}, {c.attr_float("max", 6)});
}

constexpr TensorflowConverter kConverters[] = {
    {"FakeQuantWithMinMaxArgs", convert_fake_quant_args},
    {"FakeQuantWithMinMaxVars", convert_fake_quant_vars},
    {"FakeQuantWithMinMaxVarsPerChannel", convert_fake_quant_vars},
};

}  // namespace

std::span<const TensorflowConverter> quantize_tensorflow() { return kConverters; }

}  // namespace headrace::detail
