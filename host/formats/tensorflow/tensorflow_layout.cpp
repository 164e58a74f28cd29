// SPDX-License-Identifier: Apache-2.0
#include "formats/tensorflow/tensorflow_layout.hpp"

#include "core/file.hpp"
#include "core/permute.hpp"

namespace headrace::detail {
bool has_channels_last(const TensorflowContext& c) {
  const std::string format = c.attr_string("data_format", "NHWC");
  if (format == "NHWC" || format == "NDHWC") return true;
  if (format == "NCHW" || format == "NCDHW") return false;
  c.refuse("data_format '" + format + "'");
}

PortRef to_channels_first(TensorflowContext& c, PortRef x, std::size_t spatial) {
  if (!has_channels_last(c)) return x;
  const auto axes = static_cast<std::int64_t>(spatial);
  Ints order = {0, axes + 1};
  for (const std::int64_t axis : iota(1, axes + 1)) order.push_back(axis);
  return c.transpose(x, order);
}

PortRef from_channels_first(TensorflowContext& c, PortRef x, std::size_t spatial) {
  if (!has_channels_last(c)) return x;
  Ints order = {0};
  for (const std::int64_t axis : iota(2, static_cast<std::int64_t>(spatial) + 2)) order.push_back(axis);
  order.push_back(1);
  return c.transpose(x, order);
}

Ints spatial_entries(const TensorflowContext& c, std::string_view what, const Ints& all, std::size_t spatial) {
  if (all.empty()) return Ints(spatial, 1);
  if (all.size() != spatial + 2) {
    fail(ErrorCode::kBadModel, "attribute " + quote(what) + " has " + std::to_string(all.size()) +
                                   " values, expected " + std::to_string(spatial + 2));
  }
  const bool is_last = has_channels_last(c);
  if (all[0] != 1 || all[is_last ? spatial + 1 : 1] != 1) {
    c.refuse(std::string(what) + " " + to_string(all) + " over the batch or the channels");
  }
  const auto first = all.begin() + (is_last ? 1 : 2);
  return {first, first + static_cast<std::ptrdiff_t>(spatial)};
}

RawAttributes window_of(const TensorflowContext& c, const Ints& strides, const Ints& dilations) {
  const std::size_t spatial = strides.size();
  Ints begins(spatial, 0);
  Ints ends(spatial, 0);
  std::string auto_pad = "valid";
  const std::string padding = c.attr_string("padding", "VALID");
  if (padding == "SAME") {
    auto_pad = "same_upper";
  } else if (padding == "EXPLICIT") {
    auto_pad = "explicit";
    const Ints all = c.attr_ints("explicit_paddings");
    if (all.size() != 2 * (spatial + 2)) {
      fail(ErrorCode::kBadModel, "explicit_paddings has " + std::to_string(all.size()) + " values");
    }
    const std::size_t first = has_channels_last(c) ? 1 : 2;
    for (std::size_t i = 0; i < spatial; ++i) {
      begins[i] = all[2 * (first + i)];
      ends[i] = all[2 * (first + i) + 1];
    }
  } else if (padding != "VALID") {
    fail(ErrorCode::kBadModel, "padding is " + quote(padding));
  }
  return {{"strides", text(strides)},
          {"dilations", text(dilations)},
          {"pads_begin", text(begins)},
          {"pads_end", text(ends)},
          {"auto_pad", auto_pad}};
}

PortRef permuted(TensorflowContext& c, PortRef x, const Ints& order) {
  const auto value = c.value(x);
  if (!value || value->shape().size() != order.size()) return c.transpose(x, order);
  return c.constant(headrace::permuted(*value, order));
}

PortRef reshaped(TensorflowContext& c, PortRef x, const Shape& shape) {
  if (const auto value = c.value(x); value && value->count() == count_elems(shape)) {
    return c.constant(value->reshaped(shape));
  }
  return c.reshape(x, shape, false);
}

PortRef as_scalar(TensorflowContext& c, PortRef x) { return c.maybe_rank(x).value_or(0) == 0 ? x : c.reshape(x, {}); }

TensorflowValues outputs_of(PortRef first, std::size_t count) {
  TensorflowValues outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.emplace_back(PortRef{first.node, static_cast<std::int32_t>(i)});
  return outputs;
}

}  // namespace headrace::detail
