// SPDX-License-Identifier: Apache-2.0
// Pools over windows and over regions.
#include <algorithm>

#include "core/error.hpp"
#include "formats/import/layer_pools.hpp"
#include "formats/old_ir/old_ir_window.hpp"

namespace headrace::detail {
namespace {

// Readers of that time took the size from the file: it settles how the number of windows was rounded.
bool rounds_up(const OldIrContext& c, const PoolForm& form) {
  const Shape& from = c.shape(c.input());
  const Shape& to = c.output_shape();
  if (to.size() != from.size()) fail(ErrorCode::kBadModel, "its output has shape " + to_string(to));
  for (std::size_t i = 0; i < form.kernel.size(); ++i) {
    const std::int64_t padded = from[i + 2] + form.pads_begin[i] + form.pads_end[i];
    if (padded < form.kernel[i])
      fail(ErrorCode::kBadModel, "its kernel " + to_string(form.kernel) + " exceeds its input");
    if (to[i + 2] != (padded - form.kernel[i]) / form.strides[i] + 1) return true;
  }
  return false;
}

// The pads of auto_pad; those in the file may be zeros.
void apply_auto_pad(const OldIrContext& c, const OldIrWindow& window, PoolForm& form) {
  if (window.auto_pad != "same_upper" && window.auto_pad != "same_lower") return;
  const Shape from = c.shape(c.input());
  for (std::size_t i = 0; i < form.kernel.size(); ++i) {
    const std::int64_t count = (from[i + 2] + form.strides[i] - 1) / form.strides[i];
    const std::int64_t total = std::max<std::int64_t>((count - 1) * form.strides[i] + form.kernel[i] - from[i + 2], 0);
    const bool is_lower = window.auto_pad == "same_lower";
    form.pads_begin[i] = is_lower ? total - total / 2 : total / 2;
    form.pads_end[i] = total - form.pads_begin[i];
  }
}

std::vector<PortRef> convert_pooling(OldIrContext& c) {
  const OldIrWindow window = old_ir_window(c);
  PoolForm form{window.kernel, window.strides, window.pads_begin, window.pads_end, false, false};
  apply_auto_pad(c, window, form);
  form.rounds_up = rounds_up(c, form);
  const std::string method = c.get_string({"pool-method", "pool_method", "pool", "method"}, "max");
  if (method == "max" || method.ends_with(".max")) return {add_max_pool(c, c.input(), form)};
  if (method != "avg" && method != "ave" && !method.ends_with(".ave")) c.refuse("the method " + method);
  form.excludes_pads = c.get_bool({"exclude-pad", "exclude_pad"}, false);
  return {add_average_pool(c, c.input(), form)};
}

std::vector<PortRef> convert_roi_pooling(OldIrContext& c) {
  const std::string method = c.get_string({"method"}, "max");
  return {c.add("ROIPooling", 2, {c.input(0), c.input(1)},
                {{"pooled_h", text(c.get_int({"pooled_h"}, 0))},
                 {"pooled_w", text(c.get_int({"pooled_w"}, 0))},
                 {"spatial_scale", text(c.get_float({"spatial_scale"}, 1))},
                 {"method", method}})};
}

std::vector<PortRef> convert_psroi_pooling(OldIrContext& c) {
  return {c.add("PSROIPooling", 1, {c.input(0), c.input(1)},
                {{"spatial_scale", text(c.get_float({"spatial_scale"}, 1))},
                 {"output_dim", text(c.get_int({"output_dim"}, 0))},
                 {"group_size", text(c.get_int({"group_size"}, 1))},
                 {"spatial_bins_x", text(c.get_int({"spatial_bins_x"}, 1))},
                 {"spatial_bins_y", text(c.get_int({"spatial_bins_y"}, 1))},
                 {"mode", c.get_string({"mode"}, "average")}})};
}

constexpr OldIrConverter kConverters[] = {
    {"Pooling", convert_pooling},
    {"ROIPooling", convert_roi_pooling},
    {"PSROIPooling", convert_psroi_pooling},
};

}  // namespace

std::span<const OldIrConverter> pool_old_ir() { return kConverters; }

}  // namespace headrace::detail
