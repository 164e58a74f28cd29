// SPDX-License-Identifier: Apache-2.0
// Functions of one float: dst[i] = f(src[i]) over two strided tensors of one shape.
//
// Arguments: dst written, src read (may be equal), int sizes and places as in common/walk.clh for dst and src,
//   int code (host/ops/unary_op.cpp; below 32 an Activation), float alpha, float beta.
// Macros: SET 0 (default) common functions, 1 erf, tanh, log and their kin, 2 trigonometric and hyperbolic ones: the
//   expensive ones are programs of their own so that the common one compiles fast. VEC: see common/vector.clh.
// Launch: see common/walk.clh. Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32, set 1 to a few units in the last place (common/activation.clh is exact to 1e-6 of 1 only); NaN stays
//   NaN. Source: own.
#ifndef SET
#define SET 0
#endif
#include "common/activation.clh"
#include "common/gather.clh"
#include "common/walk.clh"

#define ABS 32
#define NEGATIVE 33
#define SIGN 34
#define FLOOR 35
#define CEILING 36
#define ROUND_EVEN 37
#define ROUND_AWAY 38
#define SQRT 39
#define EXP 40
#define SOFT_SIGN 41
#define LOG 48
#define ERF 49
#define SELU 50

// FUNCTIONS(F) is F(code, expression of v, alpha, beta) for each function of the set. The formatter takes the calls
// for declarations and never settles.
// clang-format off
#if SET == 0
#define FUNCTIONS(F)                                                                      \
  F(ACT_RELU, activation(v, ACT_RELU, alpha, beta))                                       \
  F(ACT_CLAMP, activation(v, ACT_CLAMP, alpha, beta))                                     \
  F(ACT_SIGMOID, activation(v, ACT_SIGMOID, alpha, beta))                                 \
  F(ACT_SWISH, activation(v, ACT_SWISH, alpha, beta))                                     \
  F(ACT_HSWISH, activation(v, ACT_HSWISH, alpha, beta))                                   \
  F(ACT_HSIGMOID, activation(v, ACT_HSIGMOID, alpha, beta))                               \
  F(ACT_HARD_SIGMOID, activation(v, ACT_HARD_SIGMOID, alpha, beta))                       \
  F(ABS, fabs(v))                                                                         \
  F(NEGATIVE, -v)                                                                         \
  F(SIGN, vec_select(v > (vec)0.0f, (vec)1.0f, vec_select(v < (vec)0.0f, (vec)-1.0f, v))) \
  F(FLOOR, floor(v))                                                                      \
  F(CEILING, ceil(v))                                                                     \
  F(ROUND_EVEN, rint(v)) F(ROUND_AWAY, round(v)) F(SQRT, sqrt(v)) F(EXP, exp(v)) F(SOFT_SIGN, v / (1.0f + fabs(v)))
#elif SET == 1
#define FUNCTIONS(F)                                                                   \
  F(ACT_TANH, tanh(v))                                                                 \
  F(ACT_ELU, vec_select(v < (vec)0.0f, alpha * expm1(v), v))                           \
  F(ACT_GELU_ERF, 0.5f * v * (1.0f + erf(v * 0.70710678f)))                            \
  F(ACT_GELU_TANH, activation(v, ACT_GELU_TANH, alpha, beta))                          \
  F(ACT_MISH, activation(v, ACT_MISH, alpha, beta))                                    \
  F(ACT_SOFT_PLUS, vec_select(v < (vec)0.0f, (vec)0.0f, v) + log1p(exp(-fabs(v))))     \
  F(LOG, log(v)) F(ERF, erf(v)) F(SELU, beta* vec_select(v < (vec)0.0f, alpha * expm1(v), v))
#else
#define FUNCTIONS(F)                                                                                         \
  F(64, sin(v))                                                                                              \
  F(65, cos(v))                                                                                              \
  F(66, tan(v))                                                                                              \
  F(67, asin(v)) F(68, acos(v)) F(69, atan(v)) F(70, sinh(v)) F(71, cosh(v)) F(72, asinh(v)) F(73, acosh(v)) \
      F(74, atanh(v))
#endif
// clang-format on

#define CASE(code, expression) \
  case code: return expression;

static inline vec unary(const vec v, const int code, const float alpha, const float beta) {
  switch (code) { FUNCTIONS(CASE) }
  return v;
}

// The code is looked at once for a row: whole vectors of dense rows, of the cheap functions only.
#define LOOP(code, expression)           \
  case code:                             \
    for (; i + VEC <= count; i += VEC) { \
      const vec v = vec_load(from + i);  \
      vec_store(expression, to + i);     \
    }                                    \
    break;

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) I(code) F(alpha) F(beta)
DEFINE_SCALARS

VECTOR_KERNEL void unary_wide_f32(__global float* dst, __global const float* src, ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  __global const float* from = src + WALK_AT(src);
  __global float* to = dst + WALK_AT(dst);
  int i = 0;
#if SET == 0
  if (src_n == 1 && dst_n == 1) {
    switch (code) { FUNCTIONS(LOOP) }
  }
#endif
  for (; i < count; i += VEC) {
    const vec v = gather(from + i * src_n, src_n, count - i);
    scatter(unary(v, code, alpha, beta), to + i * dst_n, dst_n, count - i);
  }
  WALK_END
}
