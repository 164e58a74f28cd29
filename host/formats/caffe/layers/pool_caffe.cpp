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
  if (!is_max) {
    // Means count the pads up to the padded border. What "ceil" keeps hangs over without being a pad.
    attributes["exclude-pad"] = text(attributes["rounding_type"] == "ceil");
    attributes.erase("dilations");
    return {c.add("AvgPool", 14, {c.input()}, attributes)};
  }
  attributes["index_element_type"] = "i64";
  attributes["axis"] = "0";
  return {c.add("MaxPool", 14, {c.input()}, attributes, 2)};
}

constexpr CaffeConverter kConverters[] = {{"Pooling", convert_pooling}};

}  // namespace

std::span<const CaffeConverter> pool_caffe() { return kConverters; }

}  // namespace headrace::detail
