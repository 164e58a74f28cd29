// SPDX-License-Identifier: Apache-2.0
// One-hot codes of indices.
//
// dst[o, k, i] = index[o, i] == k ? on[0] : off[0], k < depth, i < inner. Dense row-major; values are moved as bits.
// Arguments: index read (int, or long where is_long), on and off read, dst written, then int: index_offset, on_offset,
// off_offset, dst_offset, depth, inner, is_long, is_normalizing (negative indices count from depth).
// Macros: ELEM element size in bytes: 1, 2, 4 (default) or 8.
// Launch: global (outer, 1, 1), local (1, 1, 1). Limits: none. Numerics: none. Source: own.
#include "common/element.clh"
#include "common/wide.clh"

#define SCALARS(I, F) \
  I(index_offset) I(on_offset) I(off_offset) I(dst_offset) I(depth) I(inner) I(is_long) I(is_normalizing)
DEFINE_SCALARS

WIDE_KERNEL void CAT(one_hot_wide_b, ELEM)(__global const int* restrict index, __global const T* restrict on,
                                           __global const T* restrict off, __global T* restrict dst, ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    const int outer = ITEM(0);
    const T on_value = on[on_offset];
    const T off_value = off[off_offset];
    __global T* d = dst + (dst_offset + outer * depth * inner);
    for (int i = 0; i < inner; ++i) {
      const int at = index_offset + outer * inner + i;
      const long given = is_long ? ((__global const long*)index)[at] : (long)index[at];
      const long wanted = given < 0 && is_normalizing ? given + depth : given;
      for (int k = 0; k < depth; ++k) d[k * inner + i] = k == wanted ? on_value : off_value;
    }
  }
}
