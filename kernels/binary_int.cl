// SPDX-License-Identifier: Apache-2.0
// Functions of two integers or booleans: dst[i] = f(a[i], b[i]) over strided tensors; a stride of 0 repeats.
//
// Arguments: dst written, a and b read (dst may be one of them), int sizes and places as in common/walk.clh for dst,
//   a and b, int code (host/ops/binary_op.cpp).
// Macros: DTYPE: see common/integer.clh. Launch: see common/walk.clh. Limits: indices fit int.
// Numerics: wraps; division by zero gives 0, it must not trap. Scalar: integer tensors are small. Source: own.
#include "common/integer.clh"
#include "common/walk.clh"

#define ADD 0
#define SUBTRACT 1
#define MULTIPLY 2
#define DIVIDE 3
#define MAXIMUM 4
#define MINIMUM 5
#define SQUARED_DIFFERENCE 6
#define PRELU 7
#define POWER 8
#define MOD 9
#define FLOOR_MOD 10
#define AND 11
#define OR 12
#define XOR 13
#define FLOOR_DIVIDE 14

static inline long power(const long base, const long exponent) {
  if (exponent < 0) return base == 1 ? 1 : (base == -1 ? 1 - 2 * (exponent & 1) : 0);
  ulong result = 1;
  ulong square = (ulong)base;
  for (ulong left = (ulong)exponent; left != 0; left >>= 1) {
    if (left & 1) result *= square;
    square *= square;
  }
  return (long)result;
}

static inline long quotient(const long a, const long b, const int code) {
  const int is_remainder = code == MOD || code == FLOOR_MOD;
  if (b == 0) return 0;
  if (b == -1) return is_remainder ? 0 : (long)(0UL - (ulong)a);
  const long rest = a % b;
  const int is_below = rest != 0 && (rest < 0) != (b < 0);
  if (is_remainder) return code == FLOOR_MOD && is_below ? rest + b : rest;
  return a / b - (code == FLOOR_DIVIDE && is_below ? 1 : 0);
}

static inline long binary(const long a, const long b, const int code) {
  const ulong x = (ulong)a;
  const ulong y = (ulong)b;
  switch (code) {
    case ADD: return (long)(x + y);
    case SUBTRACT: return (long)(x - y);
    case MULTIPLY: return (long)(x * y);
    case MAXIMUM: return a > b ? a : b;
    case MINIMUM: return a < b ? a : b;
    case SQUARED_DIFFERENCE: return (long)((x - y) * (x - y));
    case PRELU: return a < 0 ? (long)(x * y) : a;
    case POWER: return power(a, b);
    case AND: return a != 0 && b != 0;
    case OR: return a != 0 || b != 0;
    case XOR: return (a != 0) != (b != 0);
    default: return quotient(a, b, code);
  }
}

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, a) WALK_PLACE(I, b) I(code)
DEFINE_SCALARS

VECTOR_KERNEL void ENTRY(binary_int)(__global elem* dst, __global const elem* a, __global const elem* b, ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  __global const elem* pa = a + WALK_AT(a);
  __global const elem* pb = b + WALK_AT(b);
  __global elem* to = dst + WALK_AT(dst);
  for (int i = 0; i < count; ++i) to[i * dst_n] = (elem)binary((long)pa[i * a_n], (long)pb[i * b_n], code);
  WALK_END
}
