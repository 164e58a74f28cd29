// SPDX-License-Identifier: Apache-2.0
#include "formats/import/layer_pools.hpp"

#include <algorithm>

namespace headrace::detail {
namespace {

bool has_pads(const PoolForm& form) {
  const auto is_pad = [](std::int64_t pad) { return pad != 0; };
  return std::any_of(form.pads_begin.begin(), form.pads_begin.end(), is_pad) ||
         std::any_of(form.pads_end.begin(), form.pads_end.end(), is_pad);
}

const char* rounding(const PoolForm& form) {
  if (!form.rounds_up) return "floor";
  bool may_be_empty = false;
  for (std::size_t i = 0; i < form.kernel.size(); ++i) may_be_empty = may_be_empty || form.strides[i] > form.kernel[i];
  return !has_pads(form) && may_be_empty ? "ceil" : "ceil_torch";
}

RawAttributes attributes_of(const PoolForm& form) {
  return {{"kernel", text(form.kernel)},     {"strides", text(form.strides)},   {"pads_begin", text(form.pads_begin)},
          {"pads_end", text(form.pads_end)}, {"rounding_type", rounding(form)}, {"auto_pad", "explicit"}};
}

// By how much the last windows hang over the padded border, 0 where they do not; empty where a size is open.
Ints overhang(const Emitter& c, PortRef x, const PoolForm& form) {
  Ints result;
  for (std::size_t i = 0; i < form.kernel.size(); ++i) {
    const auto size = c.static_dim(x, i + 2);
    if (!size) return {};
    const std::int64_t padded = *size + form.pads_begin[i] + form.pads_end[i];
    const std::int64_t rest = (padded - form.kernel[i]) % form.strides[i];
    const std::int64_t last = padded - form.kernel[i] - rest + form.strides[i];  // where one more window begins
    const bool is_dropped = rest <= 0 || last >= *size + form.pads_begin[i];
    result.push_back(is_dropped ? 0 : last + form.kernel[i] - padded);
  }
  return result;
}

}  // namespace

PortRef add_max_pool(Emitter& c, PortRef x, const PoolForm& form) {
  RawAttributes attributes = attributes_of(form);
  attributes["dilations"] = text(Ints(form.kernel.size(), 1));
  attributes["index_element_type"] = "i64";
  attributes["axis"] = "0";
  return c.add("MaxPool", 14, {x}, attributes, 2);
}

// IR's readers differ where pads that count meet windows that hang over: there the pads become zeros of the input, and
// what hangs over a pad that does not count.
PortRef add_average_pool(Emitter& c, PortRef x, const PoolForm& form) {
  RawAttributes attributes = attributes_of(form);
  const bool counts_pads = has_pads(form) && !form.excludes_pads;
  attributes["exclude-pad"] = text(!counts_pads);
  const Ints over = overhang(c, x, form);
  if (!counts_pads || !form.rounds_up || over.empty()) return c.add("AvgPool", 14, {x}, attributes);
  attributes["rounding_type"] = "floor";
  const bool hangs_over = std::any_of(over.begin(), over.end(), [](std::int64_t size) { return size != 0; });
  if (!hangs_over) return c.add("AvgPool", 14, {x}, attributes);
  Ints begin = {0, 0}, end = {0, 0};
  begin.insert(begin.end(), form.pads_begin.begin(), form.pads_begin.end());
  end.insert(end.end(), form.pads_end.begin(), form.pads_end.end());
  const PortRef padded = c.add("Pad", 1, {x, c.constant_ints(begin), c.constant_ints(end), c.constant_like(0, x)},
                               {{"pad_mode", "constant"}});
  attributes["exclude-pad"] = "true";
  attributes["pads_begin"] = text(Ints(form.kernel.size(), 0));
  attributes["pads_end"] = text(over);
  return c.add("AvgPool", 14, {padded}, attributes);
}

}  // namespace headrace::detail
