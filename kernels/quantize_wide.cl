// SPDX-License-Identifier: Apache-2.0
// dst[i] = the number of the level that FakeQuantize moves x[i] to: x <= in_low ? 0 : x > in_high ? steps
// : round((x - in_low) / (in_high - in_low) * steps).
//
// Arguments: dst u8 written, x f32 read; int sizes and places as in common/walk.clh for dst and x; float in_low,
// in_high
//   (larger than in_low), steps (levels - 1, at most 255).
// Macros: VEC: see common/vector.clh (16, 8 or 4). Launch: see common/walk.clh.
// Limits: indices fit int; reads up to a vector past the end of a row.
// Numerics: f32, halves to even; the operations of fake_quantize_wide.cl in its order, so that both choose the same
//   level. A byte has no NaN: NaN becomes 0. Source: own.
#include "common/gather.clh"
#include "common/walk.clh"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
typedef JOIN(uchar, VEC) bytes;
typedef bytes unaligned_bytes __attribute__((aligned(1)));
#define as_ints JOIN(as_int, VEC)
#define to_bytes JOIN(convert_uchar, VEC)

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, x) F(in_low) F(in_high) F(steps)
DEFINE_SCALARS

VECTOR_KERNEL void quantize_wide_u8(__global uchar* dst, __global const float* x, ARGS) {
  UNPACK_SCALARS
  const float range = in_high - in_low;
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    const vec v = gather(x + WALK_AT(x) + i * x_n, x_n, left);
    vec step = (v - in_low) / range * steps;
    step = vec_select(v > (vec)in_high, (vec)steps, step);
    step = vec_select(v > (vec)in_low, step, (vec)0.0f);
    const bytes level = to_bytes(as_ints(step + TO_WHOLE) & 255);
    __global uchar* to = dst + WALK_AT(dst) + i * dst_n;
    if (left >= VEC && dst_n == 1) {
      *(__global unaligned_bytes*)to = level;
    } else {
      uchar lanes[VEC];
      *(unaligned_bytes*)lanes = level;
      for (int k = 0; k < min(left, VEC); ++k) to[k * dst_n] = lanes[k];
    }
  }
  WALK_END
}
