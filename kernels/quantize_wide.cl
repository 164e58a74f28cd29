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
#define to_ints JOIN(convert_int, VEC)
#define to_bytes JOIN(convert_uchar, VEC)
#define store_bytes JOIN(vstore, VEC)

__kernel void quantize_wide_u8(__global uchar* dst, __global const float* x, WALK_SIZES, WALK_PLACE(dst), WALK_PLACE(x),
                               const float in_low, const float in_high, const float steps) {
  WALK_BEGIN
  for (int i = 0; i < count; i += VEC) {
    const int left = count - i;
    const vec v = gather(x + WALK_AT(x) + i * x_n, x_n, left);
    const vec step = rint((v - in_low) / (in_high - in_low) * steps);
    vec r = vec_select(v > (vec)in_high, (vec)steps, step);
    r = vec_select(v > (vec)in_low, r, (vec)0.0f);
    const bytes level = to_bytes(to_ints(r));
    __global uchar* to = dst + WALK_AT(dst) + i * dst_n;
    if (left >= VEC && dst_n == 1) {
      store_bytes(level, 0, to);
    } else {
      uchar lanes[VEC];
      store_bytes(level, 0, lanes);
      for (int k = 0; k < min(left, VEC); ++k) to[k * dst_n] = lanes[k];
    }
  }
  WALK_END
}
