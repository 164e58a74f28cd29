// SPDX-License-Identifier: Apache-2.0
// Functions of one integer: dst[i] = f(src[i]) over two strided tensors of one shape.
//
// Arguments: dst written, src read (may be equal), int sizes and places as in common/walk.clh for dst and src, int
//   code (host/ops/unary_op.cpp), then the high and low 32 bits of the bounds of Clamp.
// Macros: DTYPE: see common/integer.clh. Launch: see common/walk.clh. Limits: indices fit int.
// Numerics: exact, negation wraps. Scalar: integer tensors of networks are small. Source: own.
#include "common/integer.clh"
#include "common/walk.clh"

#define RELU 1
#define CLAMP 2
#define ABS 32
#define NEGATIVE 33
#define SIGN 34
#define NOT 80

static inline long unary(const long v, const int code, const long low, const long high) {
  switch (code) {
    case RELU: return v < 0 ? 0 : v;
    case CLAMP: return v < low ? low : (v > high ? high : v);
    case ABS: return v < 0 ? (long)(0UL - (ulong)v) : v;
    case NEGATIVE: return (long)(0UL - (ulong)v);
    case SIGN: return (v > 0) - (v < 0);
    case NOT: return v == 0;
    default: return v;
  }
}

#define SCALARS(I, F) \
  WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) I(code) I(low_high) I(low_low) I(high_high) I(high_low)
DEFINE_SCALARS

VECTOR_KERNEL void ENTRY(unary_int)(__global elem* dst, __global const elem* src, ARGS) {
  UNPACK_SCALARS
  const long low = long_of(low_high, low_low);
  const long high = long_of(high_high, high_low);
  WALK_BEGIN
  __global const elem* from = src + WALK_AT(src);
  __global elem* to = dst + WALK_AT(dst);
  for (int i = 0; i < count; ++i) to[i * dst_n] = (elem)unary((long)from[i * src_n], code, low, high);
  WALK_END
}
