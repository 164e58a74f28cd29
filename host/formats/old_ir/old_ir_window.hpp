// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools, in the spellings of all versions.
#pragma once

#include "formats/old_ir/old_ir_context.hpp"

namespace headrace::detail {

struct OldIrWindow {
  Ints kernel, strides, dilations, pads_begin, pads_end;  // one number for each spatial axis
  std::string auto_pad;                                   // IR's word
};

// kernel="3,3" strides pads_begin pads_end dilations from version 3 on, before kernel-x kernel-y stride-x ... pad-x
// pad-r dilation-x; a file may have both, the lists count. Throws kBadModel where a number makes no sense.
OldIrWindow old_ir_window(const OldIrContext& c);

// strides, dilations, pads_begin, pads_end and auto_pad as IR's text.
RawAttributes old_ir_window_attributes(const OldIrWindow& window);

}  // namespace headrace::detail
