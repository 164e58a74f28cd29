// SPDX-License-Identifier: Apache-2.0
// dst[i] = mask[i] != 0 ? a[i] : b[i] over strided tensors; a stride of 0 repeats (broadcasting).
//
// Arguments: dst (DTYPE) written, mask (uchar), a and b (DTYPE) read, int sizes and places as in common/walk.clh for
//   dst, mask, a and b. Macros: DTYPE: see common/integer.clh, and f32. Launch: see common/walk.clh.
// Limits: indices fit int. Numerics: none. Source: own.
#include "common/integer.clh"
#include "common/walk.clh"

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, mask) WALK_PLACE(I, a) WALK_PLACE(I, b)
DEFINE_SCALARS

VECTOR_KERNEL void ENTRY(select_wide)(__global elem* dst, __global const uchar* mask, __global const elem* a,
                                      __global const elem* b, ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  __global const uchar* pm = mask + WALK_AT(mask);
  __global const elem* pa = a + WALK_AT(a);
  __global const elem* pb = b + WALK_AT(b);
  __global elem* to = dst + WALK_AT(dst);
  if (dst_n == 1 && mask_n == 1 && a_n == 1 && b_n == 1) {
    for (int i = 0; i < count; ++i) to[i] = pm[i] ? pa[i] : pb[i];
  } else {
    for (int i = 0; i < count; ++i) to[i * dst_n] = pm[i * mask_n] ? pa[i * a_n] : pb[i * b_n];
  }
  WALK_END
}
