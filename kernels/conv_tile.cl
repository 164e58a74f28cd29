// SPDX-License-Identifier: Apache-2.0
// Dense, grouped and transposed convolution in 1 to 3 dimensions, and matrix product, for GPUs: an implicit matrix
// product in local memory.
//
// formula  that of conv_wide.cl
// layout   as there; wei f32, per group blocks of BLOCK output channels, [K][BLOCK] each, zero padded: the order of
//          conv_wide.cl with VEC = BLOCK and TILE_N = 1
// args     those of conv_wide.cl without tiles_per_item and vectors_per_item
// macros   SIDE 16, 8, 4, 1: work-items along each side of a work-group; BLOCK = 4 * SIDE pixels and channels are
//          computed by a group, 4 x 4 by each item
// launch   global (ceil(PIXELS / BLOCK) * SIDE, ceil(OC / BLOCK) * SIDE, groups), local (SIDE, SIDE, 1)
// limits   2 * DEPTH * BLOCK floats of local memory; dst may be the same memory as residual, not overlap src
// numerics f32 sums in order of K
// source   own
#define VEC 1
#include "common/activation.clh"
#include "common/conv.clh"

#ifndef SIDE
#define SIDE 16
#endif
#define BLOCK (4 * SIDE)
#define DEPTH 16  // elements of K in local memory at a time

// What pixel p multiplies with row k of the weights.
static inline float source_at(const __global float* src, pixel_t p, int k, const shape_t* s) {
  const int ic = k % s->IC;
  k /= s->IC;
  const int kw = k % s->KW;
  k /= s->KW;
  const int id = source_index(p.d * s->SD - s->PD + k / s->KH * s->DD, s->UD, s->ID);
  const int ih = source_index(p.h * s->SH - s->PH + k % s->KH * s->DH, s->UH, s->IH);
  const int iw = source_index(p.w * s->SW - s->PW + kw * s->DW, s->UW, s->IW);
  if (id < 0 || ih < 0 || iw < 0) return 0.0f;
  return src[p.n * s->src_n + id * s->src_d + ih * s->src_h + iw * s->src_w + ic * s->src_c];
}

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void conv_tile_f32(
    __global const float* restrict src, __global const float* restrict wei, __global const float* restrict bias,
    __global const float* residual, __global float* dst, int has_bias, int has_residual, int src_offset, int dst_offset,
    int res_offset, int wei_offset, int PIXELS, int IC, int OC, int OD, int OH, int OW, int ID, int IH, int IW, int KD,
    int KH, int KW, int SD, int SH, int SW, int DD, int DH, int DW, int PD, int PH, int PW, int UD, int UH, int UW,
    int src_n, int src_d, int src_h, int src_w, int src_c, int src_g, int dst_n, int dst_d, int dst_h, int dst_w,
    int dst_g, int res_n, int res_d, int res_h, int res_w, int res_g, int wei_g, int bias_g, int act, float alpha,
    float beta) {
  __local float a[DEPTH][BLOCK];
  __local float b[DEPTH][BLOCK];
  const shape_t s = {IC, OD, OH, OW, ID, IH, IW, KD, KH,    KW,    SD,    SH,    SW,   DD,
                     DH, DW, PD, PH, PW, UD, UH, UW, src_n, src_d, src_h, src_w, src_c};
  const int g = get_global_id(2);
  src += src_offset + g * src_g;
  dst += dst_offset + g * dst_g;
  const int m0 = get_group_id(0) * BLOCK;
  const int oc0 = get_group_id(1) * BLOCK;
  const int K = KD * KH * KW * IC;
  const __global float* block = wei + wei_offset + g * wei_g + oc0 * K;
  const int lm = get_local_id(0);
  const int ln = get_local_id(1);
  const int item = ln * SIDE + lm;

  float acc[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) acc[i][j] = 0.0f;
  }
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    // Neighbouring items read neighbouring channels: they lie side by side in memory.
    for (int e = item; e < DEPTH * BLOCK; e += SIDE * SIDE) {
      const int k = e % DEPTH;
      const int m = e / DEPTH;
      const bool is_valid = k0 + k < K && m0 + m < PIXELS;
      a[k][m] = is_valid ? source_at(src, pixel_at(m0 + m, OD, OH, OW), k0 + k, &s) : 0.0f;
    }
    for (int e = item; e < DEPTH * BLOCK; e += SIDE * SIDE) {
      b[e / BLOCK][e % BLOCK] = k0 + e / BLOCK < K ? block[k0 * BLOCK + e] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int depth = min(DEPTH, K - k0);
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) acc[i][j] = fma(a[k][lm + i * SIDE], b[k][ln + j * SIDE], acc[i][j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i) {
    const int m = m0 + lm + i * SIDE;
    if (m >= PIXELS) continue;
    const pixel_t p = pixel_at(m, OD, OH, OW);
    for (int j = 0; j < 4; ++j) {
      const int oc = oc0 + ln + j * SIDE;
      if (oc >= OC) continue;
      float value = acc[i][j];
      if (has_bias) value += bias[g * bias_g + oc];
      if (has_residual) {
        value += residual[res_offset + g * res_g + p.n * res_n + p.d * res_d + p.h * res_h + p.w * res_w + oc];
      }
      dst[p.n * dst_n + p.d * dst_d + p.h * dst_h + p.w * dst_w + oc] = activation(value, act, alpha, beta);
    }
  }
}
