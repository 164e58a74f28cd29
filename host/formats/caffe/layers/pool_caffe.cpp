// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over whole pictures.
#include "core/error.hpp"
#include "formats/caffe/caffe_window.hpp"
#include "formats/import/layer_pools.hpp"

namespace headrace::detail {
namespace {

bool rounds_up(const CaffeParams& params) {
  const std::string mode = params.get_enum("round_mode", "CEIL", {{"CEIL", "0"}, {"FLOOR", "1"}});
  return params.get_bool("ceil_mode", true) && mode == "CEIL";
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
  const PoolForm form{window.kernel, window.strides, window.pads, window.pads, rounds_up(params), false};
  return {is_max ? add_max_pool(c, c.input(), form) : add_average_pool(c, c.input(), form)};
}

constexpr CaffeConverter kConverters[] = {{"Pooling", convert_pooling}};

}  // namespace

std::span<const CaffeConverter> pool_caffe() { return kConverters; }

}  // namespace headrace::detail
