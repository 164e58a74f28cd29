// SPDX-License-Identifier: Apache-2.0
#include "formats/old_ir/old_ir_window.hpp"

#include "core/error.hpp"

namespace headrace::detail {
namespace {

constexpr std::int64_t kMost = 1 << 24;

void check_range(const Ints& values, std::int64_t least, const char* what) {
  for (const std::int64_t value : values) {
    if (value < least || value > kMost) fail(ErrorCode::kBadModel, std::string(what) + " is " + to_string(values));
  }
}

// A list for all axes, or one attribute for height and one for width; "x" is the width.
Ints read(const OldIrContext& c, const char* list, OldIrContext::Names y, OldIrContext::Names x, std::size_t axes,
          const Ints& fallback) {
  if (const auto values = c.get_ints({list}); values && (!c.has(x) || values->size() == axes)) {
    if (values->size() == 1) return Ints(axes, (*values)[0]);
    if (values->size() == axes) return *values;
    fail(ErrorCode::kBadModel,
         std::string(list) + " is " + to_string(*values) + ", expected " + std::to_string(axes) + " numbers");
  }
  if (!c.has(x) && !c.has(y)) return fallback;
  if (axes != 2) fail(ErrorCode::kBadModel, std::string(list) + " by axes x and y, expected a list");
  return {c.get_int(y, fallback[0]), c.get_int(x, fallback[1])};
}

// Files of 2017 write 0 for "each".
Ints at_least_one(Ints values) {
  for (std::int64_t& value : values) value = value == 0 ? 1 : value;
  return values;
}

}  // namespace

OldIrWindow old_ir_window(const OldIrContext& c) {
  const std::size_t rank = c.rank(c.input());
  if (rank < 3 || rank > 5) c.refuse("an input of rank " + std::to_string(rank));
  const std::size_t axes = rank - 2;
  const Ints ones(axes, 1), zeros(axes, 0);
  OldIrWindow window;
  window.kernel = read(c, "kernel", {"kernel-y", "kernel_h"}, {"kernel-x", "kernel_w"}, axes, zeros);
  window.strides = at_least_one(read(c, "strides", {"stride-y", "stride_h"}, {"stride-x", "stride_w"}, axes, ones));
  window.dilations = at_least_one(read(c, "dilations", {"dilation-y"}, {"dilation-x"}, axes, ones));
  window.pads_begin = read(c, "pads_begin", {"pad-y", "pad_h"}, {"pad-x", "pad_w"}, axes, zeros);
  window.pads_end = read(c, "pads_end", {"pad-b"}, {"pad-r"}, axes, window.pads_begin);
  check_range(window.kernel, 1, "kernel");
  check_range(window.strides, 1, "strides");
  check_range(window.dilations, 1, "dilations");
  check_range(window.pads_begin, 0, "pads_begin");
  check_range(window.pads_end, 0, "pads_end");
  window.auto_pad = c.get_string({"auto_pad"}, "explicit");
  if (window.auto_pad == "notset" || window.auto_pad.empty()) window.auto_pad = "explicit";
  return window;
}

RawAttributes old_ir_window_attributes(const OldIrWindow& window) {
  return {{"strides", text(window.strides)},
          {"dilations", text(window.dilations)},
          {"pads_begin", text(window.pads_begin)},
          {"pads_end", text(window.pads_end)},
          {"auto_pad", window.auto_pad}};
}

}  // namespace headrace::detail
