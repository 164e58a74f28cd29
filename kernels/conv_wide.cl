// SPDX-License-Identifier: Apache-2.0
// Dense, grouped and transposed convolution in 1 to 3 dimensions, and matrix product, for CPU-like devices.
//
// formula  for group g, output pixel p = (n, od, oh, ow) and channel oc of the group:
//            dst[g,p,oc] = act(bias[g,oc] + residual[g,p,oc]
//                              + sum over kd, kh, kw, ic of src[g,n,id,ih,iw,ic] * wei[g,oc,kd,kh,kw,ic])
//          with ih = (oh * SH - PH + kh * DH) / UH, and so for d and w; a term counts only where the division leaves
//          no rest and ih lies in [0, IH). A convolution has U = 1. A transposed convolution has S = 1, U = its stride
//          and the signs of P and D turned round. A matrix product C[M,N] = A[M,K] * B[K,N] is OW = M, IC = K, OC = N.
// layout   src, dst, residual f32, strides in elements between n, d, h, w and groups; channels of dst and residual are
//          neighbours, those of src are src_c apart.
//          wei f32, per group blocks of nv vectors of output channels, [K][nv * VEC] each, K = KD*KH*KW*IC with ic
//          innermost; nv is the largest power of two that is at most TILE_N and at most the vectors that are left,
//          so that block v of vectors starts at v * VEC * K. Channels past OC are zero. wei_g apart between groups.
//          With HALF_WEI they are finite f16.
//          bias f32 [OC] per group, bias_g apart
// args     0 src r, 1 wei r, 2 bias r, 3 residual r, 4 dst w; bias and residual are read where has_* is 1
//          5.. as named below: *_offset elements from the pointer to the first one (a view starts where no cl_mem can),
//          PIXELS = N*OD*OH*OW, IC and OC per group
// macros   VEC 16, 8, 4: lanes; TILE_M pixels and TILE_N vectors (a power of two) of the register tile; KC: longest
//          part of K that is summed at once; HALF_WEI 1: weights are f16, and the same sums come out.
//          TILE_M * TILE_N + TILE_N + 1 vectors should fit the registers.
// launch   global (ceil(tiles / tiles_per_item), ceil(vectors / vectors_per_item), groups), local (1,1,1). A work-item
//          computes tiles_per_item tiles of TILE_M pixels for vectors_per_item vectors of channels.
// limits   src, bias, dst and residual may be read up to VEC - 1 elements past a row's end, never written there. dst
//          may be the same memory as residual, not overlap src
// numerics f32 sums in order of K, in parts of KC; a part's sum goes through dst in f32
// source   own
#include "common/activation.clh"
#include "common/conv.clh"
#include "common/weights.clh"
#include "common/wide.clh"

#ifndef TILE_M
#define TILE_M 14
#endif
#ifndef TILE_N
#define TILE_N 2
#endif
#ifndef KC
#define KC 512
#endif

#include "common/panel.clh"

// What a tile starts from and where it goes.
typedef struct {
  const __global float* bias;  // 0 where the tile does not start from it
  const __global float* from;  // residual or the sums so far, 0 where there is neither
  __global float* dst;
  float low, high;      // bounds of the result, infinite where there are none
  int from_at[TILE_M];  // of each row, in from; rows that are not stored repeat a valid one
  int dst_at[TILE_M];
} target_t;

// Computes TILE_M rows of NV vectors with all sums in registers. Stores them bounded where is_plain, else leaves them
// in tile for store_tile. Prefetches as many weights from `ahead` on as it reads.
#define DEFINE_SUM_TILE(NV)                                                                                          \
  OUTLINED void sum_tile_##NV(vec* tile, const float* panel, const __global wei_t* wei, const __global wei_t* ahead, \
                              int count, const target_t* t, int oc, bool is_plain) {                                 \
    vec acc[TILE_M][NV];                                                                                             \
    __global float* dst = t->dst + oc;                                                                               \
    const float low = t->low, high = t->high;                                                                        \
    _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                                 \
      const vec init = t->bias ? vec_load(t->bias + oc + n * VEC) : (vec)0.0f;                                       \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) acc[m][n] = init;                                           \
    }                                                                                                                \
    if (t->from) {                                                                                                   \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                           \
        _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                             \
          acc[m][n] += vec_load(t->from + t->from_at[m] + oc + n * VEC);                                             \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
    for (int k = 0; k < count; ++k) {                                                                                \
      vec w[NV];                                                                                                     \
      _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                               \
        w[n] = wei_load(wei + (k * NV + n) * VEC);                                                                   \
        PREFETCH(ahead + (k * NV + n) * VEC);                                                                        \
      }                                                                                                              \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                           \
        const vec a = (vec)panel[m * ROW + k];                                                                       \
        _Pragma("unroll") for (int n = 0; n < NV; ++n) acc[m][n] += a * w[n];                                        \
      }                                                                                                              \
    }                                                                                                                \
    _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                             \
      _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                               \
        if (is_plain) {                                                                                              \
          vec_store(bounded(acc[m][n], low, high), dst + t->dst_at[m] + n * VEC);                                    \
        } else {                                                                                                     \
          tile[m * NV + n] = acc[m][n];                                                                              \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }

DEFINE_SUM_TILE(1)
#if TILE_N >= 2
DEFINE_SUM_TILE(2)
#endif
#if TILE_N >= 4
DEFINE_SUM_TILE(4)
#endif
#if TILE_N >= 8
DEFINE_SUM_TILE(8)
#endif

static inline void sum_tile(vec* tile, const float* panel, const __global wei_t* wei, const __global wei_t* ahead,
                            int count, const target_t* t, int oc, int nv, bool is_plain) {
#if TILE_N >= 8
  if (nv == 8) sum_tile_8(tile, panel, wei, ahead, count, t, oc, is_plain);
#endif
#if TILE_N >= 4
  if (nv == 4) sum_tile_4(tile, panel, wei, ahead, count, t, oc, is_plain);
#endif
#if TILE_N >= 2
  if (nv == 2) sum_tile_2(tile, panel, wei, ahead, count, t, oc, is_plain);
#endif
  if (nv == 1) sum_tile_1(tile, panel, wei, ahead, count, t, oc, is_plain);
}

// Any activation, any number of rows and channels.
OUTLINED void store_tile(const vec* tile, const target_t* t, int rows, int nv, int oc, int OC, int act, float alpha,
                         float beta) {
  for (int m = 0; m < rows; ++m) {
    for (int n = 0; n < nv; ++n) {
      const int c = oc + n * VEC;
      vec_store_lanes(activation(tile[m * nv + n], act, alpha, beta), t->dst + t->dst_at[m] + c, OC - c);
    }
  }
}

#define OFFSETS(I) I(src_offset) I(dst_offset) I(res_offset) I(wei_offset)
#define SIZES(I) I(PIXELS) I(IC) I(OC) I(OD) I(OH) I(OW) I(ID) I(IH) I(IW) I(KD) I(KH) I(KW)
#define STEPS(I) I(SD) I(SH) I(SW) I(DD) I(DH) I(DW) I(PD) I(PH) I(PW) I(UD) I(UH) I(UW)
#define STRIDES(I, p) I(p##_n) I(p##_d) I(p##_h) I(p##_w)
#define ALL_STRIDES(I) STRIDES(I, src) I(src_c) I(src_g) STRIDES(I, dst) I(dst_g) STRIDES(I, res) I(res_g)
#define WORK(I) I(wei_g) I(bias_g) I(tiles_per_item) I(vectors_per_item)
#define SCALARS(I, F) \
  I(has_bias) I(has_residual) OFFSETS(I) SIZES(I) STEPS(I) ALL_STRIDES(I) WORK(I) I(act) F(alpha) F(beta)
DEFINE_SCALARS

WIDE_KERNEL void conv_wide_f32(__global const float* restrict src, __global const wei_t* restrict wei,
                               __global const float* restrict bias, __global const float* residual, __global float* dst,
                               ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    float panel[TILE_M * ROW] __attribute__((aligned(128)));
    vec tile[TILE_M * TILE_N];
    const shape_t s = {IC, OD, OH, OW, ID, IH, IW, KD, KH,    KW,    SD,    SH,    SW,   DD,
                       DH, DW, PD, PH, PW, UD, UH, UW, src_n, src_d, src_h, src_w, src_c};
    const int g = ITEM(2);
    const __global float* group_src = src + src_offset + g * src_g;
    const __global wei_t* group_wei = wei + wei_offset + g * wei_g;
    target_t target;
    target.dst = dst + dst_offset + g * dst_g;

    const bool is_point = KD * KH * KW == 1 && UD * UH * UW == 1 && PD == 0 && PH == 0 && PW == 0 &&
                          (OD - 1) * SD < ID && (OH - 1) * SH < IH && (OW - 1) * SW < IW;
    const bool is_one_run = src_c == 1 && UW == 1 && (KW == 1 || (DW == 1 && src_w == IC));
    const int run_taps = is_one_run ? KW : 1;
    const int run = run_taps * IC;
    const int K = KD * KH * KW * IC;
    const int parts = max((K + KC - 1) / KC, 1);
    const int part = ((K + parts - 1) / parts + 15) & ~15;
    const int tile_begin = ITEM(0) * tiles_per_item;
    const int tile_end = min(tile_begin + tiles_per_item, (PIXELS + TILE_M - 1) / TILE_M);
    const int vectors = (OC + VEC - 1) / VEC;
    const int vector_begin = ITEM(1) * vectors_per_item;
    const int vector_end = min(vector_begin + vectors_per_item, vectors);

    for (int part_index = 0; part_index < parts; ++part_index) {
      const int k0 = min(part_index * part, K);
      const int k1 = min(k0 + part, K);
      const bool is_first = part_index == 0;
      const int part_act = part_index == parts - 1 ? act : ACT_NONE;
      start_t start;
      start.k = k0 / run * run;
      start.kw = k0 / run * run_taps % KW;
      start.kh = k0 / run * run_taps / KW % KH;
      start.kd = k0 / run * run_taps / KW / KH;
      target.bias = is_first && has_bias ? bias + g * bias_g : 0;
      target.low = part_act == ACT_RELU ? 0.0f : (part_act == ACT_CLAMP ? alpha : -INFINITY);
      target.high = part_act == ACT_CLAMP ? beta : INFINITY;
      target.from = !is_first ? target.dst : (has_residual ? residual + res_offset + g * res_g : 0);
      for (int t = tile_begin; t < tile_end; ++t) {
        const int rows = min(TILE_M, PIXELS - t * TILE_M);
        pixel_t p = pixel_at(t * TILE_M, OD, OH, OW);
        const bool is_inner = is_one_run && parts == 1 && rows == TILE_M && is_inner_tile(p, &s);
        if (is_inner) gather_inner_tile(panel, group_src, p, &s);
        for (int m = 0; m < rows; ++m) {
          if (is_inner) {
            // gathered above
          } else if (is_point) {
            gather_point(panel + m * ROW, group_src, p, k0, k1, &s);
          } else if (is_one_run) {
            gather_rows(panel + m * ROW, group_src, p, start, k0, k1, &s);
          } else {
            gather_taps(panel + m * ROW, group_src, p, start, k0, k1, &s);
          }
          target.dst_at[m] = p.n * dst_n + p.d * dst_d + p.h * dst_h + p.w * dst_w;
          target.from_at[m] = is_first ? p.n * res_n + p.d * res_d + p.h * res_h + p.w * res_w : target.dst_at[m];
          p = next_pixel(p, OD, OH, OW);
        }
        for (int m = rows; m < TILE_M; ++m) {
          zero_floats(panel + m * ROW, 0, k1 - k0);
          target.from_at[m] = target.from_at[0];
        }
        for (int v = vector_begin; v < vector_end;) {
          const int nv = tile_vectors(TILE_N, vectors - v);
          const int oc = v * VEC;
          const bool is_plain = part_act <= ACT_CLAMP && rows == TILE_M && oc + nv * VEC <= OC;
          const __global wei_t* part_wei = group_wei + oc * K + k0 * nv * VEC;
          // The weights that come next: the first tile reads block after block, then, where it is the only one, those
          // of
          // the next part. The second one finds them in the cache and has time to fetch the next part's.
          const bool is_next_block = t == tile_begin && v + nv < vector_end;
          const int next = is_next_block ? v + nv : (tile_end - tile_begin == 1 ? vector_begin : v);
          const __global wei_t* ahead =
              group_wei + next * VEC * K + (is_next_block ? k0 : k1) * tile_vectors(TILE_N, vectors - next) * VEC;
          sum_tile(tile, panel, part_wei, ahead, k1 - k0, &target, oc, nv, is_plain);
          if (!is_plain) store_tile(tile, &target, rows, nv, oc, OC, part_act, alpha, beta);
          v += nv;
        }
      }
    }
  }
}
