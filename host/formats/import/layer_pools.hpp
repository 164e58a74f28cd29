// SPDX-License-Identifier: Apache-2.0
// Pools as Caffe and its descendants (old IR) have them: the number of windows is rounded up.
#pragma once

#include "formats/import/emitter.hpp"

namespace headrace::detail {

// One number for each spatial axis.
struct PoolForm {
  Ints kernel, strides, pads_begin, pads_end;
  // With pads, a last window that begins behind the input and its first pad is dropped; without pads it stays and,
  // where the stride passes the kernel, may hold nothing. Source: Caffe's pooling_layer.cpp.
  bool rounds_up = true;
  bool excludes_pads = false;  // from the number that means are divided by
};

PortRef add_max_pool(Emitter& c, PortRef x, const PoolForm& form);

// What hangs over the padded border never counts.
PortRef add_average_pool(Emitter& c, PortRef x, const PoolForm& form);

}  // namespace headrace::detail
