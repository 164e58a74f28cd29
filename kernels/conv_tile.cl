// SPDX-License-Identifier: Apache-2.0
// Dense, grouped and transposed convolution in 1 to 3 dimensions, and matrix product, for GPUs: an implicit matrix
// product in local memory.
//
// formula  that of conv_wide.cl
// layout   as there; wei f32, per group blocks of BLOCK output channels, [K][BLOCK] each, zero padded: the order of
//          conv_wide.cl with VEC = BLOCK and TILE_N = 1; aligned to 16 bytes
// args     those of conv_wide.cl without tiles_per_item and vectors_per_item
// macros   SIDE 16, 8, 4, 1: work-items along each side of a work-group; ITEM 8 or 4: pixels and channels of each.
//          A group computes BLOCK = SIDE * ITEM pixels and channels
// launch   global (ceil(OC / BLOCK) * SIDE, ceil(PIXELS / BLOCK) * SIDE, groups), local (SIDE, SIDE, 1)
// limits   DEPTH * (2 * BLOCK + 4) floats and BLOCK int4 of local memory; bias and residual may be read up to 3
// elements
//          past a row's end; dst may be the same memory as residual, not overlap src
// numerics f32 sums in order of K
// source   own
//
// What bounds it: for each k an item of 8 x 8 reads 16 floats of local memory by four loads for 64 multiply-adds, which
// leaves the multipliers the narrower place; one of 4 x 4 reads 8 for 16, which takes as long. From global memory a
// group reads BLOCK / 2 multiply-adds per float. Addresses are computed once per pixel and group, and once per k and
// item. Latency is left to the other groups on the compute unit: nothing is fetched ahead. Small outputs of deep sums
// (fully connected layers at batch 1) leave compute units idle: K is not split.
#define VEC 4
#include "common/activation.clh"
#include "common/conv.clh"

#ifndef SIDE
#define SIDE 8
#endif
#ifndef ITEM
#define ITEM 8
#endif
#define BLOCK (ITEM * SIDE)
#define ITEMS (SIDE * SIDE)
#define DEPTH (ITEMS < 16 ? ITEMS : 16)  // elements of K in local memory at a time
#define VECS (ITEM / VEC)                // vectors of pixels, and of channels, of an item
// Neighbouring items write neighbouring k of a pixel: rows of a whole number of banks would all meet in one.
#define ROW (BLOCK + VEC)

// An element of K: its tap and its channel.
typedef struct {
  int d, h, w, c;
} tap_t;

static inline tap_t tap_at(int k, const shape_t* s) {
  tap_t t;
  t.c = k % s->IC;
  k /= s->IC;
  t.w = k % s->KW;
  k /= s->KW;
  t.h = k % s->KH;
  t.d = k / s->KH;
  return t;
}

// The tap of k + DEPTH; cheaper than dividing where IC is not tiny.
static inline tap_t next_tap(tap_t t, const shape_t* s) {
  t.c += DEPTH;
  while (t.c >= s->IC) {
    t.c -= s->IC;
    if (++t.w < s->KW) continue;
    t.w = 0;
    if (++t.h < s->KH) continue;
    t.h = 0;
    ++t.d;
  }
  return t;
}

// Where a pixel's taps start: its image's offset in src, then its position along depth, height and width. For a kernel
// of one tap (is_point) the offset is the pixel's.
static inline int4 origin_of(pixel_t p, bool is_point, const shape_t* s) {
  const int d = p.d * s->SD - s->PD, h = p.h * s->SH - s->PH, w = p.w * s->SW - s->PW;
  const int point = is_point ? d * s->src_d + h * s->src_h + w * s->src_w : 0;
  return (int4)(p.n * s->src_n + point, d, h, w);
}

static inline float source_at(const __global float* src, int4 origin, tap_t t, const shape_t* s) {
  const int id = source_index(origin.y + t.d * s->DD, s->UD, s->ID);
  const int ih = source_index(origin.z + t.h * s->DH, s->UH, s->IH);
  const int iw = source_index(origin.w + t.w * s->DW, s->UW, s->IW);
  if (id < 0 || ih < 0 || iw < 0) return 0.0f;
  return src[origin.x + id * s->src_d + ih * s->src_h + iw * s->src_w + t.c * s->src_c];
}

// acc[pixel][vector of channels] += the products of DEPTH elements of K. An item's vectors are SIDE apart: neighbours
// read neighbouring vectors, from different banks.
static inline void add_products(vec acc[ITEM][VECS], const __local vec* a, const __local vec* b) {
  for (int k = 0; k < DEPTH; ++k) {
    float x[ITEM];
    vec w[VECS];
    _Pragma("unroll") for (int v = 0; v < VECS; ++v) {
      vec_store(a[k * (ROW / VEC) + v * SIDE], x + v * VEC);
      w[v] = b[k * (BLOCK / VEC) + v * SIDE];
    }
    _Pragma("unroll") for (int i = 0; i < ITEM; ++i) {
      _Pragma("unroll") for (int v = 0; v < VECS; ++v) acc[i][v] += x[i] * w[v];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void conv_tile_f32(
    __global const float* restrict src, __global const float* restrict wei, __global const float* restrict bias,
    __global const float* residual, __global float* dst, int has_bias, int has_residual, int src_offset, int dst_offset,
    int res_offset, int wei_offset, int PIXELS, int IC, int OC, int OD, int OH, int OW, int ID, int IH, int IW, int KD,
    int KH, int KW, int SD, int SH, int SW, int DD, int DH, int DW, int PD, int PH, int PW, int UD, int UH, int UW,
    int src_n, int src_d, int src_h, int src_w, int src_c, int src_g, int dst_n, int dst_d, int dst_h, int dst_w,
    int dst_g, int res_n, int res_d, int res_h, int res_w, int res_g, int wei_g, int bias_g, int act, float alpha,
    float beta) {
  __local vec a[DEPTH * ROW / VEC];    // [k][pixel]
  __local vec b[DEPTH * BLOCK / VEC];  // [k][channel]
  __local int4 origins[BLOCK];
  const shape_t s = {IC, OD, OH, OW, ID, IH, IW, KD, KH,    KW,    SD,    SH,    SW,   DD,
                     DH, DW, PD, PH, PW, UD, UH, UW, src_n, src_d, src_h, src_w, src_c};
  const int g = get_global_id(2);
  src += src_offset + g * src_g;
  bias += has_bias ? g * bias_g : 0;
  residual += has_residual ? res_offset + g * res_g : 0;
  dst += dst_offset + g * dst_g;
  const int lc = get_local_id(0);  // along the channels: neighbours write neighbouring addresses
  const int lp = get_local_id(1);
  const int oc0 = get_group_id(0) * BLOCK;
  const int p0 = get_group_id(1) * BLOCK;
  const int item = lp * SIDE + lc;
  const int K = KD * KH * KW * IC;
  const __global vec* block = (const __global vec*)(wei + wei_offset + g * wei_g + oc0 * K);

  // One tap that reads no padding: matrix products too.
  const bool is_point = KD * KH * KW == 1 && UD * UH * UW == 1 && PD == 0 && PH == 0 && PW == 0 && (OD - 1) * SD < ID &&
                        (OH - 1) * SH < IH && (OW - 1) * SW < IW;
  // Rows that are not stored repeat the last pixel.
  for (int p = item; p < BLOCK; p += ITEMS) {
    origins[p] = origin_of(pixel_at(min(p0 + p, PIXELS - 1), OD, OH, OW), is_point, &s);
  }
  vec acc[ITEM][VECS];
  for (int i = 0; i < ITEM; ++i) {
    for (int v = 0; v < VECS; ++v) acc[i][v] = (vec)0.0f;
  }
  // An item fetches the same k of every part, for several pixels: neighbours read neighbouring channels.
  const int k_own = item % DEPTH;
  tap_t tap = tap_at(k_own, &s);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k0 = 0; k0 < K; k0 += DEPTH, tap = next_tap(tap, &s)) {
    const bool has_own = k0 + k_own < K;
    for (int p = item / DEPTH; p < BLOCK; p += ITEMS / DEPTH) {
      float value = 0.0f;
      if (has_own) value = is_point ? src[origins[p].x + tap.c * src_c] : source_at(src, origins[p], tap, &s);
      ((__local float*)a)[k_own * ROW + p] = value;
    }
    for (int e = item; e < DEPTH * BLOCK / VEC; e += ITEMS) {
      b[e] = k0 + e / (BLOCK / VEC) < K ? block[k0 * (BLOCK / VEC) + e] : (vec)0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    add_products(acc, a + lp, b + lc);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < ITEM; ++i) {
    const int pixel = p0 + (i / VEC * SIDE + lp) * VEC + i % VEC;
    if (pixel >= PIXELS) continue;
    const pixel_t p = pixel_at(pixel, OD, OH, OW);
    const int residual_at = p.n * res_n + p.d * res_d + p.h * res_h + p.w * res_w;
    const int dst_at = p.n * dst_n + p.d * dst_d + p.h * dst_h + p.w * dst_w;
    for (int v = 0; v < VECS; ++v) {
      const int oc = oc0 + (v * SIDE + lc) * VEC;
      if (oc >= OC) continue;
      vec value = acc[i][v];
      if (has_bias) value += vec_load(bias + oc);
      if (has_residual) value += vec_load(residual + residual_at + oc);
      vec_store_lanes(activation(value, act, alpha, beta), dst + dst_at + oc, OC - oc);
    }
  }
}
