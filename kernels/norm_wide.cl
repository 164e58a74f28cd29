// SPDX-License-Identifier: Apache-2.0
// Normalisation along axes: dst[k, j] = (src[k, j] - mean[k]) * scale[k], with mean = mean_factor * sum of src[k, .]
// and scale from s = square_factor * sum of (src[k, .] - mean)^2.
//
// Arguments: dst written, src read (may be equal), int sizes and places as in common/walk.clh for dst and src over the
//   kept dimensions, int m0, m1, m2, src_m0, src_m1, src_m2, dst_m0, dst_m1, dst_m2 (common/axis.clh), float
//   mean_factor (0: no mean), float square_factor, int rule (0: scale 1, 1: 1 / sqrt(s + eps), 2: 1 / (sqrt(s) + eps),
//   3: 1 / sqrt(max(s, eps))), float eps. Macros: FORM and VEC: see common/axis.clh. Launch: see common/walk.clh.
// norm_wide_rows_f32 has its vectors along m2, norm_wide_cols_f32 along the innermost kept dimension.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32 in VEC (rows) or 2 (columns) partial sums; squares are of x - mean, so nothing cancels; NaN stays NaN.
// Source: own.
#include "common/axis.clh"

#define PLACES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src)
#define AXES(I) AXIS_SIZES(I) AXIS_STRIDES(I, src) AXIS_STRIDES(I, dst)
#define SCALARS(I, F) WALK_SIZES(I) PLACES(I) AXES(I) F(mean_factor) F(square_factor) I(rule) F(eps)
DEFINE_SCALARS

#define PARAMS __global float *dst, __global const float *src, ARGS

static inline vec scale_of(const vec s, const int rule, const float eps) {
  switch (rule) {
    case 1: return 1.0f / sqrt(s + eps);
    case 2: return 1.0f / (sqrt(s) + eps);
    case 3: return 1.0f / sqrt(vec_select(s < (vec)eps, (vec)eps, s));
    default: return (vec)1.0f;
  }
}

#define SRC_ROW (from + j0 * src_m0 + j1 * src_m1)
#define DST_ROW (to + j0 * dst_m0 + j1 * dst_m1)

#if FORM == 0
VECTOR_KERNEL void norm_wide_rows_f32(PARAMS) {
  UNPACK_SCALARS
  OPAQUE(from_step, src_m2)
  OPAQUE(to_step, dst_m2)
  OPAQUE(scale_rule, rule)
  OPAQUE(takes_mean, mean_factor != 0.0f)

  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    __global const float* from = src + WALK_AT(src) + i * src_n;
    __global float* to = dst + WALK_AT(dst) + i * dst_n;
    float mean = 0.0f;
    if (takes_mean) {
      vec sum = (vec)0.0f;
      AXIS_OUTER
      for (int j = 0; j < m2; j += VEC) {
        sum += first_lanes(gather(SRC_ROW + j * src_m2, from_step, m2 - j), m2 - j, 0.0f);
      }
      AXIS_END
      mean = fold_sum(sum) * mean_factor;
    }
    vec squares = (vec)0.0f;
    AXIS_OUTER
    for (int j = 0; j < m2; j += VEC) {
      const vec v = first_lanes(gather(SRC_ROW + j * src_m2, from_step, m2 - j) - mean, m2 - j, 0.0f);
      squares += v * v;
    }
    AXIS_END
    const vec scale = scale_of((vec)(fold_sum(squares) * square_factor), scale_rule, eps);
    AXIS_OUTER
    for (int j = 0; j < m2; j += VEC) {
      const vec v = gather(SRC_ROW + j * src_m2, from_step, m2 - j);
      scatter((v - mean) * scale, DST_ROW + j * dst_m2, to_step, m2 - j);
    }
    AXIS_END
  }
  WALK_END
}

#else

// Element j of the axis m2 for a vector of kept indices.
#define COLUMN(j) gather(SRC_ROW + (j)*src_m2, from_step, left)

VECTOR_KERNEL void norm_wide_cols_f32(PARAMS) {
  UNPACK_SCALARS
  OPAQUE(from_step, src_n)
  OPAQUE(to_step, dst_n)
  OPAQUE(scale_rule, rule)
  OPAQUE(takes_mean, mean_factor != 0.0f)

  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    __global const float* from = src + WALK_AT(src) + i * src_n;
    __global float* to = dst + WALK_AT(dst) + i * dst_n;
    vec mean = (vec)0.0f;
    if (takes_mean) {
      vec even = (vec)0.0f, odd = (vec)0.0f;
      AXIS_OUTER
      for (int j = 0; j < m2; j += 2) {
        even += COLUMN(j);
        if (j + 1 < m2) odd += COLUMN(j + 1);
      }
      AXIS_END
      mean = (even + odd) * mean_factor;
    }
    vec even = (vec)0.0f, odd = (vec)0.0f;
    AXIS_OUTER
    for (int j = 0; j < m2; j += 2) {
      const vec v = COLUMN(j) - mean;
      even += v * v;
      if (j + 1 < m2) {
        const vec w = COLUMN(j + 1) - mean;
        odd += w * w;
      }
    }
    AXIS_END
    const vec scale = scale_of((even + odd) * square_factor, scale_rule, eps);
    AXIS_OUTER
    for (int j = 0; j < m2; ++j) scatter((COLUMN(j) - mean) * scale, DST_ROW + j * dst_m2, to_step, left);
    AXIS_END
  }
  WALK_END
}

#endif
