// SPDX-License-Identifier: Apache-2.0
// Reductions of integers and booleans: dst[k] = fold over j of src[k, j].
//
// Arguments: dst written, src read, int sizes and places as in common/walk.clh for dst and src over the kept
//   dimensions, int m0, m1, m2 and src_m0, src_m1, src_m2 (common/axis.clh), int code (host/ops/reduce_op.cpp).
// Macros: DTYPE: see common/integer.clh. Launch: see common/walk.clh. Limits: indices fit int.
// Numerics: 64-bit sums that wrap; means truncate. Scalar: integer tensors are small. Source: own.
#include "common/axis.clh"
#include "common/integer.clh"

#define MAX 1
#define MIN 2
#define PROD 3
#define L1 4
#define AND 6
#define OR 7
#define MEAN 8

static inline long first_value(const int code) {
  if (code == MAX) return LONG_MIN;
  if (code == MIN) return LONG_MAX;
  return code == PROD || code == AND ? 1 : 0;
}

static inline long step(const long sum, const long v, const int code) {
  switch (code) {
    case MAX: return max(sum, v);
    case MIN: return min(sum, v);
    case PROD: return (long)((ulong)sum * (ulong)v);
    case L1: return (long)((ulong)sum + (v < 0 ? 0UL - (ulong)v : (ulong)v));
    case AND: return sum != 0 && v != 0;
    case OR: return sum != 0 || v != 0;
    default: return (long)((ulong)sum + (ulong)v);
  }
}

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) AXIS_SIZES(I) AXIS_STRIDES(I, src) I(code)
DEFINE_SCALARS

VECTOR_KERNEL void ENTRY(reduce_int)(__global elem* dst, __global const elem* src, ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    __global const elem* from = src + WALK_AT(src) + i * src_n;
    long sum = first_value(code);
    AXIS_OUTER
    __global const elem* p = from + j0 * src_m0 + j1 * src_m1;
    for (int j = 0; j < m2; ++j) sum = step(sum, (long)p[j * src_m2], code);
    AXIS_END
    const long elems = (long)m0 * m1 * m2;
    if (code == MEAN && elems > 0) sum /= elems;
    dst[WALK_AT(dst) + i * dst_n] = (elem)sum;
  }
  WALK_END
}
