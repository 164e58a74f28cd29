// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over whole pictures.
#include "core/error.hpp"
#include "formats/caffe/caffe_window.hpp"

namespace headrace::detail {
namespace {

// Caffe rounds the number of windows up. With pads, a last window that begins behind the input and its first pad is
// dropped (IR's ceil_torch); without pads it stays and, where the stride passes the kernel, may hold nothing.
std::string rounding(const CaffeParams& params, const CaffeWindow& window) {
  const std::string mode = params.get_enum("round_mode", "CEIL", {{"CEIL", "0"}, {"FLOOR", "1"}});
  if (mode == "FLOOR" || !params.get_bool("ceil_mode", true)) return "floor";
  const bool has_pads = window.pads[0] != 0 || window.pads[1] != 0;
  const bool may_be_empty = window.strides[0] > window.kernel[0] || window.strides[1] > window.kernel[1];
  return !has_pads && may_be_empty ? "ceil" : "ceil_torch";
}

// By how much the last window hangs over the padded border, 0 where it does not; nothing where the size is open.
std::optional<std::int64_t> overhang(const CaffeContext& c, const CaffeWindow& window, std::size_t axis) {
  const auto size = c.static_dim(c.input(), axis + 2);
  if (!size) return std::nullopt;
  const std::int64_t kernel = window.kernel[axis], stride = window.strides[axis], pad = window.pads[axis];
  const std::int64_t rest = (*size + 2 * pad - kernel) % stride;
  if (rest <= 0) return 0;
  const std::int64_t last = *size + 2 * pad - kernel - rest + stride;  // where it begins, from the padded border
  return last - pad >= *size + pad ? 0 : last + kernel - (*size + 2 * pad);
}

// Means count pads, but not what hangs over the padded border. IR's readers differ where both meet, so the pads become
// zeros of the input and what hangs over a pad that is not counted.
PortRef average(CaffeContext& c, const CaffeWindow& window, RawAttributes attributes) {
  attributes.erase("dilations");
  const bool has_pads = window.pads[0] != 0 || window.pads[1] != 0;
  attributes["exclude-pad"] = text(!has_pads);
  const auto below = overhang(c, window, 0);
  const auto right = overhang(c, window, 1);
  if (!has_pads || attributes["rounding_type"] == "floor" || !below || !right) {
    return c.add("AvgPool", 14, {c.input()}, attributes);
  }
  attributes["rounding_type"] = "floor";
  if (*below == 0 && *right == 0) return c.add("AvgPool", 14, {c.input()}, attributes);
  const PortRef pads = c.constant_ints({0, 0, window.pads[0], window.pads[1]});
  const PortRef padded =
      c.add("Pad", 1, {c.input(), pads, pads, c.constant_like(0, c.input())}, {{"pad_mode", "constant"}});
  attributes["exclude-pad"] = "true";
  attributes["pads_begin"] = "0, 0";
  attributes["pads_end"] = text(Ints{*below, *right});
  return c.add("AvgPool", 14, {padded}, attributes);
}

std::vector<PortRef> convert_pooling(CaffeContext& c) {
  c.need_inputs(1);
  const CaffeParams& params = c.params("pooling_param");
  const std::string method = params.get_enum("pool", "MAX", {{"MAX", "0"}, {"AVE", "1"}, {"STOCHASTIC", "2"}});
  if (method == "STOCHASTIC") c.refuse("pool STOCHASTIC");
  if (c.count_outputs() > 1) c.refuse("the top with the places of the maxima");
  const bool is_max = method == "MAX";
  if (params.get_bool("global_pooling", false)) {
    for (const char* name : {"pad", "pad_h", "pad_w", "stride", "stride_h", "stride_w", "round_mode", "ceil_mode"}) {
      static_cast<void>(params.has(name));  // a single window has neither
    }
    return {c.reduce(is_max ? "ReduceMax" : "ReduceMean", c.input(), {2, 3}, true)};
  }
  const CaffeWindow window = caffe_pool_window(params);
  for (std::size_t i = 0; i < 2; ++i) {
    if (window.pads[i] >= window.kernel[i]) {
      fail(ErrorCode::kBadModel,
           "its pads " + to_string(window.pads) + " are not smaller than its kernel " + to_string(window.kernel));
    }
  }
  RawAttributes attributes = caffe_window_attributes(window);
  attributes["kernel"] = text(window.kernel);
  attributes["rounding_type"] = rounding(params, window);
  if (!is_max) return {average(c, window, attributes)};
  attributes["index_element_type"] = "i64";
  attributes["axis"] = "0";
  return {c.add("MaxPool", 14, {c.input()}, attributes, 2)};
}

constexpr CaffeConverter kConverters[] = {{"Pooling", convert_pooling}};

}  // namespace

std::span<const CaffeConverter> pool_caffe() { return kConverters; }

}  // namespace headrace::detail
