// SPDX-License-Identifier: Apache-2.0
// The k largest or smallest elements along an axis and their places.
//
// dst[o, :, i] = the first k of src[o, :, i] in falling (is_max) or rising order, or these by place (is_by_place);
// place[o, :, i] = where they stood. Of equal elements the lower place comes first; NaN is larger than every number.
// Arguments: src read, dst written, place written (int, or long where is_long), then int: src_offset, dst_offset,
// place_offset, size, inner, k, is_max, is_by_place, is_long. Dense row-major arrays.
// Macros: none.
// Launch: global (inner, outer, 1), local (1, 1, 1); a work-item makes one line: k elements kept sorted in dst and
// place while the line is walked, so size * k steps at worst.
// Limits: k <= size. Numerics: none. Source: own.
#include "common/wide.clh"

static void set_place(__global int* place, const int at, const int value, const int is_long) {
  if (is_long) {
    ((__global long*)place)[at] = value;
  } else {
    place[at] = value;
  }
}

static int get_place(__global int* place, const int at, const int is_long) {
  return is_long ? (int)((__global long*)place)[at] : place[at];
}

// Whether a is larger than b; for integers the comparison with itself always holds.
#define IS_LARGER(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))

#define SCALARS(I, F) \
  I(src_offset) I(dst_offset) I(place_offset) I(size) I(inner) I(k) I(is_max) I(is_by_place) I(is_long)
DEFINE_SCALARS

#define TOPK_KERNEL(NAME, T)                                                                                    \
  WIDE_KERNEL void NAME(__global const T* restrict src, __global T* restrict dst, __global int* restrict place, \
                        ARGS) {                                                                                 \
    UNPACK_SCALARS                                                                                              \
    EACH_ITEM {                                                                                                 \
      const int i = ITEM(0);                                                                                    \
      const int o = ITEM(1);                                                                                    \
      __global const T* s = src + (src_offset + o * size * inner + i);                                          \
      __global T* d = dst + (dst_offset + o * k * inner + i);                                                   \
      const int p = place_offset + o * k * inner + i;                                                           \
      int kept = 0;                                                                                             \
      for (int n = 0; n < size; ++n) {                                                                          \
        const T value = s[n * inner];                                                                           \
        int at = kept;                                                                                          \
        while (at > 0) {                                                                                        \
          const T other = d[(at - 1) * inner];                                                                  \
          if (is_max ? !IS_LARGER(value, other) : !IS_LARGER(other, value)) break;                              \
          --at;                                                                                                 \
        }                                                                                                       \
        if (at == k) continue;                                                                                  \
        kept = min(kept + 1, k);                                                                                \
        for (int m = kept - 1; m > at; --m) {                                                                   \
          d[m * inner] = d[(m - 1) * inner];                                                                    \
          set_place(place, p + m * inner, get_place(place, p + (m - 1) * inner, is_long), is_long);             \
        }                                                                                                       \
        d[at * inner] = value;                                                                                  \
        set_place(place, p + at * inner, n, is_long);                                                           \
      }                                                                                                         \
      if (!is_by_place) continue;                                                                               \
      for (int n = 1; n < k; ++n) {                                                                             \
        const T value = d[n * inner];                                                                           \
        const int from = get_place(place, p + n * inner, is_long);                                              \
        int at = n;                                                                                             \
        for (; at > 0 && get_place(place, p + (at - 1) * inner, is_long) > from; --at) {                        \
          d[at * inner] = d[(at - 1) * inner];                                                                  \
          set_place(place, p + at * inner, get_place(place, p + (at - 1) * inner, is_long), is_long);           \
        }                                                                                                       \
        d[at * inner] = value;                                                                                  \
        set_place(place, p + at * inner, from, is_long);                                                        \
      }                                                                                                         \
    }                                                                                                           \
  }

TOPK_KERNEL(topk_wide_f32, float)
TOPK_KERNEL(topk_wide_i32, int)
TOPK_KERNEL(topk_wide_i64, long)
TOPK_KERNEL(topk_wide_i8, char)
TOPK_KERNEL(topk_wide_u8, uchar)
