// SPDX-License-Identifier: Apache-2.0
// Reductions: dst[k] = scale * fold over j of src[k, j], k over the kept dimensions, j over the axes.
//
// Arguments: dst written, src read, int sizes and places as in common/walk.clh for dst and src over the kept
//   dimensions, int m0, m1, m2 and src_m0, src_m1, src_m2 (common/axis.clh), int code (host/ops/reduce_op.cpp), float
//   scale. Macros: VEC: see common/vector.clh. Launch: see common/walk.clh.
// reduce_wide_rows_f32 has its vectors along m2, reduce_wide_cols_f32 along the innermost kept dimension.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32 in 4 * VEC (rows) or 4 (columns) partial results; NaN stays NaN. Source: own.
#include "common/axis.clh"

// STEP(a, v): one more element; JOIN(a, b): two partial results become one.
#define STEP_SUM(a, v) ((a) + (v))
#define STEP_PROD(a, v) ((a) * (v))
#define STEP_L1(a, v) ((a) + fabs(v))
#define STEP_L2(a, v) ((a) + (v) * (v))

// F(code, first value, STEP, JOIN)
#define REDUCTIONS(F)               \
  F(0, 0.0f, STEP_SUM, STEP_SUM)    \
  F(1, -INFINITY, max_nan, max_nan) \
  F(2, INFINITY, min_nan, min_nan)  \
  F(3, 1.0f, STEP_PROD, STEP_PROD)  \
  F(4, 0.0f, STEP_L1, STEP_SUM)     \
  F(5, 0.0f, STEP_L2, STEP_SUM)

#define L2 5

#define PARAMS                                                                                              \
  __global float *dst, __global const float *src, WALK_SIZES, WALK_PLACE(dst), WALK_PLACE(src), AXIS_SIZES, \
      AXIS_STRIDES(src), const int code, const float scale

#define ROW(code, first, STEP, JOIN)                            \
  case code: {                                                  \
    vec a = (vec)(first), b = a, c = a, d = a;                  \
    AXIS_OUTER                                                  \
    __global const float* p = from + j0 * src_m0 + j1 * src_m1; \
    int j = 0;                                                  \
    if (src_m2 == 1) {                                          \
      for (; j + 4 * VEC <= m2; j += 4 * VEC) {                 \
        a = STEP(a, vec_load(p + j));                           \
        b = STEP(b, vec_load(p + j + VEC));                     \
        c = STEP(c, vec_load(p + j + 2 * VEC));                 \
        d = STEP(d, vec_load(p + j + 3 * VEC));                 \
      }                                                         \
    }                                                           \
    for (; j < m2; j += VEC) {                                  \
      const vec v = gather(p + j * src_m2, src_m2, m2 - j);     \
      a = STEP(a, first_lanes(v, m2 - j, (first)));             \
    }                                                           \
    AXIS_END                                                    \
    vec r = JOIN(JOIN(a, b), JOIN(c, d));                       \
    FOLD(r, JOIN)                                               \
    result = r.s0;                                              \
    break;                                                      \
  }

__kernel void reduce_wide_rows_f32(PARAMS) {
  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    __global const float* from = src + WALK_AT(src) + i * src_n;
    float result = 0.0f;
    switch (code) { REDUCTIONS(ROW) }
    dst[WALK_AT(dst) + i * dst_n] = (code == L2 ? sqrt(result) : result) * scale;
  }
  WALK_END
}

#define COLUMNS(code, first, STEP, JOIN)                        \
  case code: {                                                  \
    vec a = (vec)(first), b = a, c = a, d = a;                  \
    AXIS_OUTER                                                  \
    __global const float* p = from + j0 * src_m0 + j1 * src_m1; \
    int j = 0;                                                  \
    for (; j + 4 <= m2; j += 4) {                               \
      a = STEP(a, gather(p, src_n, left));                      \
      b = STEP(b, gather(p + src_m2, src_n, left));             \
      c = STEP(c, gather(p + 2 * src_m2, src_n, left));         \
      d = STEP(d, gather(p + 3 * src_m2, src_n, left));         \
      p += 4 * src_m2;                                          \
    }                                                           \
    for (; j < m2; ++j) {                                       \
      a = STEP(a, gather(p, src_n, left));                      \
      p += src_m2;                                              \
    }                                                           \
    AXIS_END                                                    \
    result = JOIN(JOIN(a, b), JOIN(c, d));                      \
    break;                                                      \
  }

__kernel void reduce_wide_cols_f32(PARAMS) {
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    __global const float* from = src + WALK_AT(src) + i * src_n;
    vec result = (vec)0.0f;
    switch (code) { REDUCTIONS(COLUMNS) }
    if (code == L2) result = sqrt(result);
    scatter(result * scale, dst + WALK_AT(dst) + i * dst_n, dst_n, left);
  }
  WALK_END
}
