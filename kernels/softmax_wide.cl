// SPDX-License-Identifier: Apache-2.0
// Softmax along one axis of m elements: dst[k, j] = exp(src[k, j] - max) / sum of exp(src[k, .] - max), or its
// logarithm src[k, j] - max - log(sum).
//
// Arguments: dst written, src read (may be equal), int sizes and places as in common/walk.clh for dst and src over the
//   other dimensions, int m, src_m, dst_m (size of the axis, strides along it), int is_log.
// Macros: FORM and VEC: see common/axis.clh. Launch: see common/walk.clh.
// softmax_wide_rows_f32 has its vectors along the axis, softmax_wide_cols_f32 along the innermost other dimension.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32; NaN, or infinity as the maximum, makes the whole row NaN. Source: own.
#include "common/axis.clh"
#include "common/wide.clh"

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) I(m) I(src_m) I(dst_m) I(is_log)
DEFINE_SCALARS

#define PARAMS __global float *dst, __global const float *src, ARGS

#if FORM == 0
OUTLINED void softmax_row(__global const float* from, __global float* to, const int m, const int src_m, const int dst_m,
                          const int is_log) {
  OPAQUE(from_step, src_m)
  OPAQUE(to_step, dst_m)
  OPAQUE(wants_log, is_log)
  vec top = (vec)(-INFINITY);
  for (int j = 0; j < m; j += VEC) {
    const vec v = gather(from + j * src_m, from_step, m - j);
    top = max_nan(top, first_lanes(v, m - j, -INFINITY));
  }
  const float highest = fold_max(top);
  vec sums = (vec)0.0f;
  for (int j = 0; j < m; j += VEC) {
    const vec v = gather(from + j * src_m, from_step, m - j) - highest;
    const vec e = exp(v);
    sums += first_lanes(e, m - j, 0.0f);
    scatter(wants_log ? v : e, to + j * dst_m, to_step, m - j);
  }
  const float sum = fold_sum(sums);
  const float scale = wants_log ? 1.0f : 1.0f / sum;
  const float shift = wants_log ? -log(sum) : 0.0f;
  for (int j = 0; j < m; j += VEC) {
    const vec v = gather(to + j * dst_m, to_step, m - j);
    scatter(v * scale + shift, to + j * dst_m, to_step, m - j);
  }
}

VECTOR_KERNEL void softmax_wide_rows_f32(PARAMS) {
  UNPACK_SCALARS
  WALK_BEGIN
  for (int i = 0; i < count; ++i) {
    softmax_row(src + WALK_AT(src) + i * src_n, dst + WALK_AT(dst) + i * dst_n, m, src_m, dst_m, is_log);
  }
  WALK_END
}

#else

// The first `left` of VEC neighbouring columns.
OUTLINED void softmax_columns(__global const float* from, __global float* to, const int m, const int src_m,
                              const int dst_m, const int src_n, const int dst_n, const int left, const int is_log) {
  OPAQUE(from_step, src_n)
  OPAQUE(to_step, dst_n)
  OPAQUE(wants_log, is_log)
  vec top = (vec)(-INFINITY);
  for (int j = 0; j < m; ++j) top = max_nan(top, gather(from + j * src_m, from_step, left));
  vec sum = (vec)0.0f;
  for (int j = 0; j < m; ++j) {
    const vec v = gather(from + j * src_m, from_step, left) - top;
    const vec e = exp(v);
    sum += e;
    scatter(wants_log ? v : e, to + j * dst_m, to_step, left);
  }
  const vec scale = wants_log ? (vec)1.0f : 1.0f / sum;
  const vec shift = wants_log ? -log(sum) : (vec)0.0f;
  for (int j = 0; j < m; ++j) {
    const vec v = gather(to + j * dst_m, to_step, left);
    scatter(v * scale + shift, to + j * dst_m, to_step, left);
  }
}

VECTOR_KERNEL void softmax_wide_cols_f32(PARAMS) {
  UNPACK_SCALARS
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    softmax_columns(src + WALK_AT(src) + i * src_n, dst + WALK_AT(dst) + i * dst_n, m, src_m, dst_m, src_n, dst_n,
                    count - i, is_log);
  }
  WALK_END
}

#endif
