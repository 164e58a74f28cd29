// SPDX-License-Identifier: Apache-2.0
// Functions of two floats: dst[i] = act(f(a[i], b[i])) over strided tensors; a stride of 0 repeats (broadcasting).
//
// Arguments: dst written, a and b read (dst may be one of them), int sizes and places as in common/walk.clh for dst,
//   a and b, int code (host/ops/binary_op.cpp), int act (enum Activation), float alpha, float beta of act.
// Macros: SET 0 (default) common functions, 1 powers and remainders, which compile slowly. VEC: see common/vector.clh.
// Launch: see common/walk.clh. Limits: indices fit int; reads up to a vector past the end of a row.
//   Numerics: f32; NaN on either side stays NaN. Source: own.
#ifndef SET
#define SET 0
#endif
#include "common/activation.clh"
#include "common/gather.clh"
#include "common/walk.clh"

// FUNCTIONS(F) is F(code, expression of x and y) for each function of the set.
#if SET == 0
#define FUNCTIONS(F)                         \
  F(0, x + y)                                \
  F(1, x - y)                                \
  F(2, x* y)                                 \
  F(3, x / y)                                \
  F(4, vec_select((x > y) | (x != x), x, y)) \
  F(5, vec_select((x < y) | (x != x), x, y)) \
  F(6, (x - y) * (x - y))                    \
  F(7, vec_select(x < (vec)0.0f, x * y, x))
#else
static inline vec floor_mod(const vec x, const vec y) {
  const vec rest = fmod(x, y);
  return vec_select((rest != (vec)0.0f) & ((rest < (vec)0.0f) ^ (y < (vec)0.0f)), rest + y, rest);
}
#define FUNCTIONS(F) F(8, pow(x, y)) F(9, fmod(x, y)) F(10, floor_mod(x, y))
#endif

#define CASE(code, expression) \
  case code: return expression;

static inline vec binary(const vec x, const vec y, const int code) {
  switch (code) { FUNCTIONS(CASE) }
  return x;
}

// The code is looked at once for a row: whole vectors of dense or broadcast rows.
#define LOOP(code, expression)                        \
  case code:                                          \
    for (; i + VEC <= count; i += VEC) {              \
      const vec x = a_n ? vec_load(pa + i) : a_first; \
      const vec y = b_n ? vec_load(pb + i) : b_first; \
      vec_store(expression, to + i);                  \
    }                                                 \
    break;

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, a) WALK_PLACE(I, b) I(code) I(act) F(alpha) F(beta)
DEFINE_SCALARS

VECTOR_KERNEL void binary_wide_f32(__global float* dst, __global const float* a, __global const float* b, ARGS) {
  UNPACK_SCALARS
#if SET == 0
  const int is_fast = dst_n == 1 && (a_n == 0 || a_n == 1) && (b_n == 0 || b_n == 1);
#endif
  WALK_BEGIN
  __global const float* pa = a + WALK_AT(a);
  __global const float* pb = b + WALK_AT(b);
  __global float* to = dst + WALK_AT(dst);
  int i = 0;
#if SET == 0
  const vec a_first = (vec)(pa[0]);
  const vec b_first = (vec)(pb[0]);
  if (is_fast && act == ACT_NONE) {
    switch (code) { FUNCTIONS(LOOP) }
  } else if (is_fast && act == ACT_RELU && code == 0) {
    for (; i + VEC <= count; i += VEC) {
      const vec sum = (a_n ? vec_load(pa + i) : a_first) + (b_n ? vec_load(pb + i) : b_first);
      vec_store(vec_select(sum < (vec)0.0f, (vec)0.0f, sum), to + i);
    }
  }
#endif
  for (; i < count; i += VEC) {
    const vec x = gather(pa + i * a_n, a_n, count - i);
    const vec y = gather(pb + i * b_n, b_n, count - i);
    scatter(activation(binary(x, y, code), act, alpha, beta), to + i * dst_n, dst_n, count - i);
  }
  WALK_END
}
