// SPDX-License-Identifier: Apache-2.0
// Pools over windows. TensorFlow's average leaves padding out of the count.
#include "formats/tensorflow/tensorflow_layout.hpp"

namespace headrace::detail {
namespace {

TensorflowValues pool(TensorflowContext& c, const Ints& kernel_list, const Ints& strides_list) {
  const bool is_3d = c.node().op.ends_with("3D");
  const bool is_max = c.node().op.starts_with("Max");
  const std::size_t spatial = is_3d ? 3 : 2;
  const Ints kernel = spatial_entries(c, "ksize", kernel_list, spatial);
  RawAttributes window = window_of(c, spatial_entries(c, "strides", strides_list, spatial), Ints(spatial, 1));
  window["kernel"] = text(kernel);
  window["rounding_type"] = "floor";
  const PortRef x = to_channels_first(c, c.input(0), spatial);
  if (!is_max) {
    window.erase("dilations");
    window["exclude-pad"] = "true";
    return {from_channels_first(c, c.add("AvgPool", 1, {x}, window), spatial)};
  }
  window["index_element_type"] = "i64";
  window["axis"] = "0";
  return {from_channels_first(c, c.add("MaxPool", 8, {x}, window, 2), spatial)};
}

TensorflowValues convert_pool(TensorflowContext& c) { return pool(c, c.attr_ints("ksize"), c.attr_ints("strides")); }

// Window and strides are inputs.
TensorflowValues convert_pool_v2(TensorflowContext& c) {
  return pool(c, c.need_ints(c.input(1), "ksize"), c.need_ints(c.input(2), "strides"));
}

constexpr TensorflowConverter kConverters[] = {
    {"MaxPool", convert_pool},           {"MaxPoolV2", convert_pool_v2}, {"MaxPool3D", convert_pool},
    {"MaxPoolWithArgmax", convert_pool}, {"AvgPool", convert_pool},      {"AvgPool3D", convert_pool},
};

}  // namespace

std::span<const TensorflowConverter> pool_tensorflow() { return kConverters; }

}  // namespace headrace::detail
