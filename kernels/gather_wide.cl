// SPDX-License-Identifier: Apache-2.0
// Slices of an array picked by indices.
//
// dst[b, o, p, i] = src[b, o, index[b, p], i]; a negative index counts from the end; one outside [-axis, axis) gives
// zeros and reads nothing. Dense row-major arrays; elements are moved as bits.
// Arguments: src read, index read (int, or long where is_long), dst written, then int: src_offset, index_offset,
// dst_offset, outer, axis, inner, picks (sizes), block (picks of one work-item), is_long.
// Macros: ELEM element size in bytes: 1, 2, 4 (default) or 8.
// Launch: global (ceil(picks / block), batch * outer, 1), local (1, 1, 1).
// Limits: indices fit int. Numerics: none. Source: own.
#include "common/element.clh"
#include "common/wide.clh"

#define SCALARS(I, F) I(src_offset) I(index_offset) I(dst_offset) I(outer) I(axis) I(inner) I(picks) I(block) I(is_long)
DEFINE_SCALARS

WIDE_KERNEL void CAT(gather_wide_b, ELEM)(__global const T* restrict src, __global const int* restrict index,
                                          __global T* restrict dst, ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    const int row = ITEM(1);
    const int batch = row / outer;
    const int first = ITEM(0) * block;
    const int last = min(picks, first + block);
    for (int p = first; p < last; ++p) {
      const int at = index_offset + batch * picks + p;
      const long wanted = is_long ? ((__global const long*)index)[at] : (long)index[at];
      const long place = wanted < 0 ? wanted + axis : wanted;
      __global T* d = dst + (dst_offset + (row * picks + p) * inner);
      if (place < 0 || place >= axis) {
        for (int i = 0; i < inner; ++i) d[i] = 0;
        continue;
      }
      __global const T* s = src + (src_offset + (row * axis + (int)place) * inner);
      int i = 0;
      for (; i + 16 <= inner; i += 16) store16(load16(s + i), d + i);
      for (; i < inner; ++i) d[i] = s[i];
    }
  }
}
