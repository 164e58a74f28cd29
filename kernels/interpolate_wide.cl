// SPDX-License-Identifier: Apache-2.0
// Resampling along up to three dimensions by tables of places and weights, vectors along channels.
//
// dst[n, z, y, x, c] = sum over taps i, j, k of wd[z, i] * wh[y, j] * ww[x, k] * src[n, id[z, i], ih[y, j], iw[x, k],
// c] src, dst f32, any strides; fast where both channel strides are 1 (channels-last). Arguments: src read, dst
// written, index read (int) and weight read (float): the taps of each od, then of each oh, then of each ow; then int:
// src_offset, dst_offset, c (channels), c_block (channels of one work-item), od, oh, ow (output sizes), td, th, tw
// (taps), strides of src n, d, h, w, c, strides of dst n, d, h, w, c. Macros: VEC lanes of a vector: 16 (default),
// 8, 4. Launch: global (ceil(c / c_block), oh, n * od), local (1, 1, 1); a work-item makes one output row. Limits:
// indices fit int; reads up to VEC - 1 elements past the end of src (never used). Numerics: sums in float, along a row
// of taps first; taps of weight 0 are not read. Source: own.
#include "common/vector.clh"
#include "common/wide.clh"

// Sums the taps at a channel; LOAD reads a value or a vector of channels.
#define SUM_TAPS(TYPE, LOAD)                                                       \
  TYPE sum = (TYPE)(0.0f);                                                         \
  for (int i = 0; i < td; ++i) {                                                   \
    for (int j = 0; j < th; ++j) {                                                 \
      const float factor = weight_d[i] * weight_h[j];                              \
      if (factor == 0.0f) continue;                                                \
      __global const float* s = plane + (index_d[i] * src_d + index_h[j] * src_h); \
      TYPE line = (TYPE)(0.0f);                                                    \
      for (int k = 0; k < tw; ++k) {                                               \
        const float w = weight_w[k];                                               \
        if (w != 0.0f) line += w * LOAD(s + (index_w[k] * src_w + ch * src_c));    \
      }                                                                            \
      sum += factor * line;                                                        \
    }                                                                              \
  }

#define LOAD_ONE(p) (*(p))

#define SIZES(I) I(c) I(c_block) I(od) I(oh) I(ow) I(td) I(th) I(tw)
#define STRIDES(I, p) I(p##_n) I(p##_d) I(p##_h) I(p##_w) I(p##_c)
#define SCALARS(I, F) I(src_offset) I(dst_offset) SIZES(I) STRIDES(I, src) STRIDES(I, dst)
DEFINE_SCALARS

WIDE_KERNEL void interpolate_wide_f32(__global const float* restrict src, __global float* restrict dst,
                                      __global const int* restrict index, __global const float* restrict weight, ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    const int c0 = ITEM(0) * c_block;
    const int c1 = min(c, c0 + c_block);
    const int y = ITEM(1);
    const int z = ITEM(2) % od;
    const int n = ITEM(2) / od;
    const int at_d = z * td;
    const int at_h = od * td + y * th;
    __global const int *index_d = index + at_d, *index_h = index + at_h;
    __global const float *weight_d = weight + at_d, *weight_h = weight + at_h;
    __global const float* plane = src + (src_offset + n * src_n);
    __global float* row = dst + (dst_offset + n * dst_n + z * dst_d + y * dst_h);
    for (int x = 0; x < ow; ++x) {
      const int at_w = od * td + oh * th + x * tw;
      __global const int* index_w = index + at_w;
      __global const float* weight_w = weight + at_w;
      __global float* d = row + x * dst_w;
      if (src_c != 1 || dst_c != 1) {
        for (int ch = c0; ch < c1; ++ch) {
          SUM_TAPS(float, LOAD_ONE)
          d[ch * dst_c] = sum;
        }
        continue;
      }
      for (int ch = c0; ch < c1; ch += VEC) {
        SUM_TAPS(vec, vec_load)
        vec_store_lanes(sum, d + ch, c1 - ch);
      }
    }
  }
}
