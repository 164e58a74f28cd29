// SPDX-License-Identifier: Apache-2.0
// Local response normalisation: dst[k, j] = src[k, j] / (bias + alpha * sum of src[k, j + d]^2)^beta, d over the window
// |d0| <= r0, |d1| <= r1, |d2| <= r2, the part of it inside the tensor.
//
// Arguments: dst written, src read (not equal: neighbours are read), int sizes and places as in common/walk.clh for dst
//   and src over the other dimensions, int m0, m1, m2, src_m0, src_m1, src_m2, dst_m0, dst_m1, dst_m2
//   (common/axis.clh), int r0, r1, r2, float alpha, float beta, float bias.
// Macros: FORM and VEC: see common/axis.clh. Launch: see common/walk.clh.
// lrn_wide_rows_f32 has its vectors along m2 (strides 1), lrn_wide_cols_f32 along the innermost other dimension.
// Limits: indices fit int; reads up to a vector past the end of a row, never before its start.
// Numerics: f32; powers through sqrt (beta 0.75) or exp and log; NaN stays NaN. Source: own.
#include "common/axis.clh"

#define PLACES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src)
#define AXES(I) AXIS_SIZES(I) AXIS_STRIDES(I, src) AXIS_STRIDES(I, dst)
#define SCALARS(I, F) WALK_SIZES(I) PLACES(I) AXES(I) I(r0) I(r1) I(r2) F(alpha) F(beta) F(bias)
DEFINE_SCALARS

#define PARAMS __global float *dst, __global const float *src, ARGS

static inline vec normalized(const vec x, const vec sum, const float alpha, const float beta, const float bias) {
  const vec base = bias + alpha * sum;
  if (beta == 0.75f) {
    const vec root = sqrt(base);
    return x / (root * sqrt(root));
  }
  if (beta == 1.0f) return x / base;
  return x * exp(-beta * log(base));
}

// The rows of the window in the two outer axes.
#define WINDOW_OUTER                                                   \
  for (int w0 = max(0, j0 - r0); w0 <= min(m0 - 1, j0 + r0); ++w0) {   \
    for (int w1 = max(0, j1 - r1); w1 <= min(m1 - 1, j1 + r1); ++w1) { \
      __global const float* near = from + w0 * src_m0 + w1 * src_m1;
#define WINDOW_END \
  }                \
  }

#if FORM == 0
// Elements j, j + 1, ... of a row of m; 0 where they lie outside.
static inline vec shifted(__global const float* row, const int j, const int m) {
  if (j >= 0 && j + VEC <= m) return vec_load(row + j);
  float lanes[VEC];
  for (int k = 0; k < VEC; ++k) lanes[k] = j + k >= 0 && j + k < m ? row[j + k] : 0.0f;
  return vec_load(lanes);
}

VECTOR_KERNEL void lrn_wide_rows_f32(PARAMS) {
  UNPACK_SCALARS
  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    __global const float* from = src + WALK_AT(src) + i * src_n;
    __global float* to = dst + WALK_AT(dst) + i * dst_n;
    AXIS_OUTER
    for (int j = 0; j < m2; j += VEC) {
      vec sum = (vec)0.0f;
      WINDOW_OUTER
      for (int d = -r2; d <= r2; ++d) {
        const vec v = shifted(near, j + d, m2);
        sum += v * v;
      }
      WINDOW_END
      const vec x = vec_load(from + j0 * src_m0 + j1 * src_m1 + j);
      scatter(normalized(x, sum, alpha, beta, bias), to + j0 * dst_m0 + j1 * dst_m1 + j, 1, m2 - j);
    }
    AXIS_END
  }
  WALK_END
}

#else

VECTOR_KERNEL void lrn_wide_cols_f32(PARAMS) {
  UNPACK_SCALARS
  OPAQUE(from_step, src_n)
  OPAQUE(to_step, dst_n)
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    __global const float* from = src + WALK_AT(src) + i * src_n;
    __global float* to = dst + WALK_AT(dst) + i * dst_n;
    AXIS_OUTER
    for (int j = 0; j < m2; ++j) {
      vec sum = (vec)0.0f;
      WINDOW_OUTER
      for (int w2 = max(0, j - r2); w2 <= min(m2 - 1, j + r2); ++w2) {
        const vec v = gather(near + w2 * src_m2, from_step, left);
        sum += v * v;
      }
      WINDOW_END
      const vec x = gather(from + j0 * src_m0 + j1 * src_m1 + j * src_m2, from_step, left);
      scatter(normalized(x, sum, alpha, beta, bias), to + j0 * dst_m0 + j1 * dst_m1 + j * dst_m2, to_step, left);
    }
    AXIS_END
  }
  WALK_END
}

#endif
