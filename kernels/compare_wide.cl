// SPDX-License-Identifier: Apache-2.0
// Questions with boolean answers: dst[i] = a[i] <op> b[i], or a property of a[i], over strided tensors.
//
// Arguments: dst (uchar, 0 or 1) written, a and b (DTYPE) read, int sizes and places as in common/walk.clh for dst, a
//   and b, int code (host/ops/compare_op.cpp), int flags: bit 0 negative and bit 1 positive infinities count.
// Macros: DTYPE: see common/integer.clh, and f32. Launch: see common/walk.clh. Limits: indices fit int.
// Numerics: NaN compares as in IEEE 754. Source: own.
#include "common/integer.clh"
#include "common/walk.clh"

#define LOOP(code, expression)              \
  case code:                                \
    for (int i = 0; i < count; ++i) {       \
      const elem x = pa[i * a_n];           \
      const elem y = pb[i * b_n];           \
      to[i * dst_n] = (expression) ? 1 : 0; \
    }                                       \
    break;

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, a) WALK_PLACE(I, b) I(code) I(flags)
DEFINE_SCALARS

VECTOR_KERNEL void ENTRY(compare_wide)(__global uchar* dst, __global const elem* a, __global const elem* b, ARGS) {
  UNPACK_SCALARS
  const float low = flags & 1 ? -INFINITY : NAN;
  const float high = flags & 2 ? INFINITY : NAN;
  WALK_BEGIN
  __global const elem* pa = a + WALK_AT(a);
  __global const elem* pb = b + WALK_AT(b);
  __global uchar* to = dst + WALK_AT(dst);
  switch (code) {
    LOOP(0, x == y)
    LOOP(1, x != y)
    LOOP(2, x < y)
    LOOP(3, x <= y)
    LOOP(4, x > y)
    LOOP(5, x >= y)
    LOOP(6, x != y)
    LOOP(7, fabs((float)x) == INFINITY && ((float)x == low || (float)y == high))
    LOOP(8, fabs((float)x) < INFINITY && x == y)
  }
  WALK_END
}
