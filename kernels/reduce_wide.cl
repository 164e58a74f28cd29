// SPDX-License-Identifier: Apache-2.0
// Reductions: dst[k] = scale * fold over j of src[k, j], k over the kept dimensions, j over the axes.
//
// Arguments: dst written, src read, int sizes and places as in common/walk.clh for dst and src over the kept
//   dimensions, int m0, m1, m2 and src_m0, src_m1, src_m2 (common/axis.clh), int code (host/ops/reduce_op.cpp), float
//   scale. Macros: FORM and VEC: see common/axis.clh. Launch: see common/walk.clh.
// reduce_wide_rows_f32 has its vectors along m2, reduce_wide_cols_f32 along the innermost kept dimension.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32 in 4 * VEC (rows) or 4 (columns) partial results; NaN stays NaN. Source: own.
#include "common/axis.clh"
#include "common/wide.clh"

#define MAX 1
#define MIN 2
#define PROD 3
#define L1 4
#define L2 5

#define STEP_SUM(a, v) ((a) + (v))
#define STEP_PROD(a, v) ((a) * (v))
#define STEP_L1(a, v) ((a) + fabs(v))
#define STEP_L2(a, v) ((a) + (v) * (v))

// F(code, STEP) for each function; STEP(a, v) takes one more element.
#define REDUCTIONS(F) F(0, STEP_SUM) F(MAX, max_nan) F(MIN, min_nan) F(PROD, STEP_PROD) F(L1, STEP_L1) F(L2, STEP_L2)

static inline float first_value(const int code) {
  if (code == MAX) return -INFINITY;
  if (code == MIN) return INFINITY;
  return code == PROD ? 1.0f : 0.0f;
}

// Two partial results become one.
static inline vec join(const vec a, const vec b, const int code) {
  switch (code) {
    case MAX: return max_nan(a, b);
    case MIN: return min_nan(a, b);
    case PROD: return a * b;
    default: return a + b;
  }
}

// One more element, for what is too rare or too short for loops of its own.
static inline vec step(const vec a, const vec v, const int code) {
  return join(a, code == L1 ? fabs(v) : (code == L2 ? v * v : v), code);
}

OUTLINED float join_lanes(vec v, const int code) {
  float lanes[2 * VEC];
  vec_store((vec)0.0f, lanes + VEC);
  for (int h = VEC / 2; h > 0; h /= 2) {
    vec_store(v, lanes);
    v = join(v, vec_load(lanes + h), code);
  }
  return v.s0;
}

#define SCALARS(I, F) \
  WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) AXIS_SIZES(I) AXIS_STRIDES(I, src) I(code) F(scale)
DEFINE_SCALARS

#define PARAMS __global float *dst, __global const float *src, ARGS

#if FORM == 0
// The code is looked at once for a row of the axis: four vectors at a time.
#define ROW(code, STEP)                       \
  case code:                                  \
    for (; j + 4 * VEC <= m2; j += 4 * VEC) { \
      a = STEP(a, vec_load(p + j));           \
      b = STEP(b, vec_load(p + j + VEC));     \
      c = STEP(c, vec_load(p + j + 2 * VEC)); \
      d = STEP(d, vec_load(p + j + 3 * VEC)); \
    }                                         \
    break;

VECTOR_KERNEL void reduce_wide_rows_f32(PARAMS) {
  UNPACK_SCALARS
  const float first = first_value(code);
  OPAQUE(op, code)
  OPAQUE(stride, src_m2)
  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    __global const float* from = src + WALK_AT(src) + i * src_n;
    vec a = (vec)first, b = a, c = a, d = a;
    AXIS_OUTER
    __global const float* p = from + j0 * src_m0 + j1 * src_m1;
    int j = 0;
    if (stride == 1) {
      switch (op) { REDUCTIONS(ROW) }
    }
    for (; j < m2; j += VEC) {
      const vec v = gather(p + j * src_m2, stride, m2 - j);
      const vec next = step(a, v, op);
      a = m2 - j >= VEC ? next : vec_select(LANES < (ivec)(m2 - j), next, a);
    }
    AXIS_END
    const float result = join_lanes(join(join(a, b, op), join(c, d, op), op), op);
    dst[WALK_AT(dst) + i * dst_n] = (op == L2 ? sqrt(result) : result) * scale;
  }
  WALK_END
}

#else

#define COLUMNS(code, STEP)                  \
  case code:                                 \
    for (; j + 4 <= m2; j += 4) {            \
      a = STEP(a, vec_load(p));              \
      b = STEP(b, vec_load(p + src_m2));     \
      c = STEP(c, vec_load(p + 2 * src_m2)); \
      d = STEP(d, vec_load(p + 3 * src_m2)); \
      p += 4 * src_m2;                       \
    }                                        \
    break;

VECTOR_KERNEL void reduce_wide_cols_f32(PARAMS) {
  UNPACK_SCALARS
  const float first = first_value(code);
  OPAQUE(op, code)
  OPAQUE(stride, src_n)
  OPAQUE(to_step, dst_n)
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    __global const float* from = src + WALK_AT(src) + i * src_n;
    vec a = (vec)first, b = a, c = a, d = a;
    AXIS_OUTER
    __global const float* p = from + j0 * src_m0 + j1 * src_m1;
    int j = 0;
    if (stride == 1) {
      switch (op) { REDUCTIONS(COLUMNS) }
    }
    for (; j < m2; ++j) {
      a = step(a, gather(p, stride, left), op);
      p += src_m2;
    }
    AXIS_END
    vec result = join(join(a, b, op), join(c, d, op), op);
    if (op == L2) result = sqrt(result);
    scatter(result * scale, dst + WALK_AT(dst) + i * dst_n, to_step, left);
  }
  WALK_END
}

#endif
