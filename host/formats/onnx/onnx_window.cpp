// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_window.hpp"

#include "core/error.hpp"
#include "core/file.hpp"

namespace headrace::detail {
namespace {

Ints list_of(const OnnxContext& c, std::string_view name, std::size_t count, std::int64_t fallback) {
  Ints values = c.attr_ints(name).value_or(Ints{});
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    fail(ErrorCode::kBadModel, "attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
                                   " values, expected " + std::to_string(count));
  }
  return values;
}

}  // namespace

OnnxWindow onnx_window(const OnnxContext& c, std::size_t spatial) {
  OnnxWindow window;
  window.strides = list_of(c, "strides", spatial, 1);
  window.dilations = list_of(c, "dilations", spatial, 1);
  const Ints pads = list_of(c, "pads", 2 * spatial, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(spatial);
  window.pads_begin.assign(pads.begin(), middle);
  window.pads_end.assign(middle, pads.end());
  const std::string auto_pad = c.attr_string("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) {
    window.auto_pad = "explicit";
  } else if (auto_pad == "SAME_UPPER") {
    window.auto_pad = "same_upper";
  } else if (auto_pad == "SAME_LOWER") {
    window.auto_pad = "same_lower";
  } else if (auto_pad == "VALID") {
    window.auto_pad = "valid";
  } else {
    fail(ErrorCode::kBadModel, "auto_pad is " + quote(auto_pad));
  }
  return window;
}

RawAttributes window_attributes(const OnnxWindow& window) {
  return {{"strides", text(window.strides)},
          {"dilations", text(window.dilations)},
          {"pads_begin", text(window.pads_begin)},
          {"pads_end", text(window.pads_end)},
          {"auto_pad", window.auto_pad}};
}

PortRef reshape_constant(OnnxContext& c, PortRef x, const Shape& shape) {
  if (const auto value = c.value(x); value && value->count() == count_elems(shape)) {
    return c.constant(value->reshaped(shape));
  }
  return c.reshape(x, shape, false);
}

PortRef per_channel(OnnxContext& c, PortRef values, std::size_t rank) {
  Shape shape(rank, 1);
  if (rank < 2) fail(ErrorCode::kBadModel, "its input has rank " + std::to_string(rank));
  const auto channels = c.static_dim(values, 0);
  shape[1] = channels.value_or(-1);
  return channels ? reshape_constant(c, values, shape) : c.reshape(values, shape, false);
}

}  // namespace headrace::detail
