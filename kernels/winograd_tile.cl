// SPDX-License-Identifier: Apache-2.0
// Winograd's form of a 3x3 convolution of stride 1, F(4x4, 3x3) or F(2x2, 3x3), for GPUs: the transforms before and
// behind PRODUCTS matrix products, which conv_tile.cl computes in one launch (its groups are the products).
//
// formula  that of winograd_wide.cl, for tiles [first, first + count) of N * tiles_h * tiles_w
//            source  spread[i,t,ic] = (B^T d B)[i] of tile first + t
//            sums    dst = act(bias + residual + A^T sums[.,t,oc] A)
// layout   src, dst, residual f32, channels last, strides in elements between n, h and w. bias f32 [OC].
//          spread f32 [PRODUCTS][count][IC], sums f32 [PRODUCTS][count][OC]
// args     source: 0 src r, 1 spread w, 2.. as named below
//          sums: 0 sums r, 1 bias r, 2 residual r, 3 dst w, 4.. as named below; bias and residual are read where has_*
//          is 1
// macros   OUT 4 or 2: outputs along a side of a tile
// launch   global (count * channels, rounded up to the local size), local (any, 1, 1). A work-item transforms a tile of
//          one channel: neighbours read and write neighbouring channels
// limits   dst may be the same memory as residual, not overlap src
// numerics those of winograd_wide.cl
// source   A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015: the matrices A, B, G
//
// What bounds it: memory. Both transforms move PRODUCTS / OUT^2 floats (2.25 or 4) per pixel and channel and compute
// next to nothing; the products save 3/4 or 5/9 of the multiplications. host/ops/conv_winograd.cpp weighs the two.
#define VEC 1
#include "common/activation.clh"
#include "common/winograd.clh"

// A tile: its image and its first output pixel.
typedef struct {
  int n, oh, ow;
} tile_t;

static inline tile_t tile_at(int index, int tiles_h, int tiles_w) {
  tile_t t;
  t.ow = index % tiles_w * OUT;
  index /= tiles_w;
  t.oh = index % tiles_h * OUT;
  t.n = index / tiles_h;
  return t;
}

__kernel void winograd_tile_source_f32(__global const float* restrict src, __global float* restrict spread,
                                       int src_offset, int IC, int IH, int IW, int PH, int PW, int src_n, int src_h,
                                       int src_w, int tiles_h, int tiles_w, int first, int count) {
  const int index = get_global_id(0);
  if (index >= count * IC) return;
  const int c = index % IC;
  const tile_t t = tile_at(first + index / IC, tiles_h, tiles_w);
  const int ih = t.oh - PH;
  const int iw = t.ow - PW;
  src += src_offset + t.n * src_n + c;
  vec d[PRODUCTS];
  _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) {
    const int h = ih + i / POINTS;
    const int w = iw + i % POINTS;
    d[i] = h >= 0 && h < IH && w >= 0 && w < IW ? src[h * src_h + w * src_w] : 0.0f;
  }
  _Pragma("unroll") for (int h = 0; h < POINTS; ++h) transform_source(d + h * POINTS, 1);
  _Pragma("unroll") for (int w = 0; w < POINTS; ++w) transform_source(d + w, POINTS);
  _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) spread[i * count * IC + index] = d[i];
}

__kernel void winograd_tile_sums_f32(__global const float* restrict sums, __global const float* restrict bias,
                                     __global const float* residual, __global float* dst, int has_bias,
                                     int has_residual, int dst_offset, int res_offset, int OC, int OH, int OW,
                                     int dst_n, int dst_h, int dst_w, int res_n, int res_h, int res_w, int tiles_h,
                                     int tiles_w, int first, int count, int act, float alpha, float beta) {
  const int index = get_global_id(0);
  if (index >= count * OC) return;
  const int c = index % OC;
  const tile_t t = tile_at(first + index / OC, tiles_h, tiles_w);
  vec m[PRODUCTS], rows[OUT * POINTS];
  _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) m[i] = sums[i * count * OC + index];
  _Pragma("unroll") for (int h = 0; h < POINTS; ++h) transform_sums(m + h * POINTS, 1, rows + h * OUT);
  dst += dst_offset + t.n * dst_n + t.oh * dst_h + t.ow * dst_w + c;
  residual += has_residual ? res_offset + t.n * res_n + t.oh * res_h + t.ow * res_w + c : 0;
  const float start = has_bias ? bias[c] : 0.0f;
  for (int w = 0; w < OUT; ++w) {
    vec column[OUT];
    transform_sums(rows + w, OUT, column);
    for (int h = 0; h < OUT; ++h) {
      if (t.oh + h >= OH || t.ow + w >= OW) continue;
      float value = column[h] + start;
      if (has_residual) value += residual[h * res_h + w * res_w];
      dst[h * dst_h + w * dst_w] = activation(value, act, alpha, beta);
    }
  }
}
