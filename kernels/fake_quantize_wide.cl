// SPDX-License-Identifier: Apache-2.0
// dst[i] = x <= low ? out_low : x > high ? out_high : round((x - in_low) / (in_high - in_low) * steps) / steps *
// (out_high - out_low) + out_low, with low and high the smaller and the larger of in_low and in_high.
//
// Arguments: dst written; x, in_low, in_high, out_low, out_high read (strides of 0 repeat), int sizes and places as in
//   common/walk.clh for dst and the five in this order, float steps (levels - 1).
// Macros: VEC: see common/vector.clh. Launch: see common/walk.clh.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32, halves to even; the order of the operations is the reference's, since another one may choose the
//   neighbouring level. NaN stays NaN. Source: own.
#include "common/gather.clh"
#include "common/walk.clh"

#define TAKE(p) gather(p + WALK_AT(p) + i * p##_n, p##_n, left)

#define SCALARS(I, F) \
  WALK_SIZES(I)       \
  WALK_PLACE(I, dst) WALK_PLACE(I, x) WALK_PLACE(I, il) WALK_PLACE(I, ih) WALK_PLACE(I, ol) WALK_PLACE(I, oh) F(steps)
DEFINE_SCALARS

VECTOR_KERNEL void fake_quantize_wide_f32(__global float* dst, __global const float* x, __global const float* il,
                                          __global const float* ih, __global const float* ol, __global const float* oh,
                                          ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    const vec v = TAKE(x);
    const vec in_low = TAKE(il);
    const vec in_high = TAKE(ih);
    const vec out_low = TAKE(ol);
    const vec out_high = TAKE(oh);
    const vec low = vec_select(in_low < in_high, in_low, in_high);
    const vec high = vec_select(in_low < in_high, in_high, in_low);
    const vec step = rint((v - in_low) / (in_high - in_low) * steps);
    vec r = step / steps * (out_high - out_low) + out_low;
    r = vec_select(v > high, out_high, r);
    r = vec_select(v <= low, out_low, r);
    scatter(r, dst + WALK_AT(dst) + i * dst_n, dst_n, left);
  }
  WALK_END
}
