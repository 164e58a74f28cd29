// SPDX-License-Identifier: Apache-2.0
// dst[i] = src[i] * factor[i] + term[i] over strided tensors; a stride of 0 repeats.
//
// Arguments: dst written (may be src), src, factor and term read, int sizes and places as in common/walk.clh for dst,
//   src, factor and term. Macros: VEC: see common/vector.clh. Launch: see common/walk.clh.
// Limits: indices fit int; reads up to a vector past the end of a row. Numerics: f32; NaN stays NaN. Source: own.
#include "common/gather.clh"
#include "common/walk.clh"

#define TAKE(p) gather(p + WALK_AT(p) + i * p##_n, p##_n, left)

__kernel void affine_wide_f32(__global float* dst, __global const float* src, __global const float* factor,
                              __global const float* term, WALK_SIZES, WALK_PLACE(dst), WALK_PLACE(src),
                              WALK_PLACE(factor), WALK_PLACE(term)) {
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    const vec r = TAKE(src) * TAKE(factor) + TAKE(term);
    scatter(r, dst + WALK_AT(dst) + i * dst_n, dst_n, left);
  }
  WALK_END
}
