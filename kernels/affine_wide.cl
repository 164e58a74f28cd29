// SPDX-License-Identifier: Apache-2.0
// dst[i] = act(src[i] * factor[i] + term[i]) over strided tensors; a stride of 0 repeats.
//
// Arguments: dst written (may be src), src, factor and term read, int sizes and places as in common/walk.clh for dst,
//   src, factor and term, act, alpha, beta: see common/activation.clh. Macros: VEC: see common/vector.clh. Launch: see
//   common/walk.clh.
// Limits: indices fit int; reads up to a vector past the end of a row. Numerics: f32; NaN stays NaN. Source: own.
#include "common/activation.clh"
#include "common/gather.clh"
#include "common/walk.clh"

#define TAKE(p) gather(p + WALK_AT(p) + i * p##_n, p##_n, left)

#define SCALARS(I, F) \
  WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src) WALK_PLACE(I, factor) WALK_PLACE(I, term) I(act) F(alpha) F(beta)
DEFINE_SCALARS

VECTOR_KERNEL void affine_wide_f32(__global float* dst, __global const float* src, __global const float* factor,
                                   __global const float* term, ARGS) {
  UNPACK_SCALARS
  const int is_fast = dst_n == 1 && src_n == 1 && factor_n == 1 && term_n == 1 && act <= ACT_CLAMP;
  const float low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
  const float high = act == ACT_CLAMP ? beta : INFINITY;
  WALK_BEGIN
  int i = 0;
  if (is_fast) {
    for (; i + VEC <= count; i += VEC) {
      const vec r = vec_load(src + WALK_AT(src) + i) * vec_load(factor + WALK_AT(factor) + i) +
                    vec_load(term + WALK_AT(term) + i);
      vec_store(bounded(r, low, high), dst + WALK_AT(dst) + i);
    }
  }
  for (; i < count; i += VEC) {
    const int left = count - i;
    const vec r = TAKE(src) * TAKE(factor) + TAKE(term);
    scatter(activation(r, act, alpha, beta), dst + WALK_AT(dst) + i * dst_n, dst_n, left);
  }
  WALK_END
}
