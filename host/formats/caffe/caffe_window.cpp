// SPDX-License-Identifier: Apache-2.0
#include "formats/caffe/caffe_window.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace headrace::detail {
namespace {

constexpr std::int64_t kMost = 1 << 24;

// How a number of a window is spelled: for all axes, for height, for width.
struct Spelling {
  const char* all;
  const char* height;
  const char* width;
  std::int64_t least;
};
constexpr Spelling kKernel = {"kernel_size", "kernel_h", "kernel_w", 1};
constexpr Spelling kStride = {"stride", "stride_h", "stride_w", 1};
constexpr Spelling kPad = {"pad", "pad_h", "pad_w", 0};
constexpr Spelling kDilation = {"dilation", "", "", 1};

// One number for each axis; `fallback` 0 means that there must be one.
Ints read(const CaffeParams& params, const Spelling& spelling, std::size_t axes, std::int64_t fallback) {
  Ints values = params.ints(spelling.all);
  const bool is_split = spelling.height[0] != '\0' && (params.has(spelling.height) || params.has(spelling.width));
  if (is_split) {
    // Caffe's own default of one half of a pair: 0, which only pads may be; a stride's other half is 1 in later
    // versions.
    const std::int64_t other = spelling.least == 0 ? 0 : fallback;
    if (!values.empty() || axes != 2) {
      fail(ErrorCode::kBadModel, "has both " + std::string(spelling.all) + " and " + spelling.height);
    }
    values = {params.get_int(spelling.height, other), params.get_int(spelling.width, other)};
  }
  if (values.empty() && fallback >= spelling.least) values = {fallback};
  if (values.size() == 1) values.assign(axes, values[0]);
  if (values.size() != axes) {
    fail(ErrorCode::kBadModel,
         "has " + std::to_string(values.size()) + " values of " + spelling.all + ", expected " + std::to_string(axes));
  }
  for (const std::int64_t value : values) {
    if (value < spelling.least || value > kMost) {
      fail(ErrorCode::kBadModel, std::string(spelling.all) + " is " + to_string(values));
    }
  }
  return values;
}

}  // namespace

CaffeWindow caffe_conv_window(const CaffeContext& c, const CaffeParams& params) {
  const std::size_t listed = std::max(
      {params.ints("kernel_size").size(), params.ints("stride").size(), params.ints("pad").size(), std::size_t{1}});
  const auto rank = c.maybe_rank(c.input());
  const std::size_t axes = rank ? *rank - std::min<std::size_t>(*rank, 2) : std::max<std::size_t>(listed, 2);
  if (axes < 1 || axes > 3) c.refuse("an input of rank " + std::to_string(axes + 2));
  return {read(params, kKernel, axes, 0), read(params, kStride, axes, 1), read(params, kDilation, axes, 1),
          read(params, kPad, axes, 0)};
}

CaffeWindow caffe_pool_window(const CaffeParams& params) {
  return {read(params, kKernel, 2, 0), read(params, kStride, 2, 1), {1, 1}, read(params, kPad, 2, 0)};
}

RawAttributes caffe_window_attributes(const CaffeWindow& window) {
  return {{"strides", text(window.strides)},
          {"dilations", text(window.dilations)},
          {"pads_begin", text(window.pads)},
          {"pads_end", text(window.pads)},
          {"auto_pad", "explicit"}};
}

}  // namespace headrace::detail
