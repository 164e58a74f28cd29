// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution (one input, one output channel per group) in 1 or 2 dimensions for CPU-like devices.
//
// formula  dst[n,oh,ow,c] = act(bias[c] + residual[n,oh,ow,c]
//                               + sum over kh, kw of src[n, oh*SH - PH + kh*DH, ow*SW - PW + kw*DW, c] * wei[kh,kw,c])
//          where a source pixel outside the image counts as zero
// layout   src, dst, residual f32, channels last, strides in elements between n, h and w. wei f32 [KH*KW][vectors *
// VEC],
//          zero padded. bias f32 [C]
// args     0 src r, 1 wei r, 2 bias r, 3 residual r, 4 dst w; bias and residual are read where has_* is 1
//          5.. as named below: *_offset elements from the pointer to the first one
// macros   VEC 16, 8, 4: lanes
// launch   global (ceil(OH / rows_per_item), ceil(vectors / vectors_per_item), N), local (1,1,1). A work-item computes
//          rows_per_item rows for vectors_per_item vectors of channels, TILE_W pixels of a row at a time
// limits   src, bias and residual may be read up to VEC - 1 elements past a row's end, dst is never written there. dst
//          may be the same memory as residual, not overlap src
// numerics f32 sums in order of kh, kw
// source   own
#include "common/activation.clh"
#include "common/wide.clh"

// Output columns per step: 7 divides the widths of image networks (7, 14, 28, 56, 112), and as many sums hide the
// latency of a multiply-add.
#define TILE_W 7

// A block of channels is finished before the next one starts: as many as keep the weights of all taps in 16 KiB.
#define BLOCK_FLOATS 4096

// What a tile of outputs reads and how far apart it lies.
typedef struct {
  int src_h, src_w, wei_tap;     // strides of source rows and pixels and of the weights' taps
  int kh_begin, kh_end, KW, DW;  // rows of taps inside the image
  int SW, IW, first, count;      // source column of output 0, tap 0; outputs to compute, at most TILE_W
} taps_t;

// sum[i] += w * source column (at + i * step) for the outputs [begin, end) of the tile.
#define ADD_TAP(IS_IN)                                  \
  _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) {  \
    if (IS_IN) sum[i] += vec_load(from + i * step) * w; \
  }

// Sums all taps of TILE_W outputs for one vector of channels, from bias to sum. Outputs past count are left as they
// are.
OUTLINED void sum_taps(vec* out, vec init, const __global float* src, const __global float* wei, const taps_t* t) {
  vec sum[TILE_W];
  _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] = init;
  const int step = t->SW * t->src_w;
  const bool is_inside =
      t->count == TILE_W && t->first >= 0 && t->first + (TILE_W - 1) * t->SW + (t->KW - 1) * t->DW < t->IW;
  for (int kh = t->kh_begin; kh < t->kh_end; ++kh) {
    const __global float* row = src + kh * t->src_h;
    const __global float* row_wei = wei + kh * t->KW * t->wei_tap;
    if (is_inside) {
      for (int kw = 0; kw < t->KW; ++kw) {
        const __global float* from = row + (t->first + kw * t->DW) * t->src_w;
        const vec w = vec_load(row_wei + kw * t->wei_tap);
        ADD_TAP(true)
      }
    } else {
      for (int kw = 0; kw < t->KW; ++kw) {
        const int column = t->first + kw * t->DW;
        const __global float* from = row + column * t->src_w;
        const vec w = vec_load(row_wei + kw * t->wei_tap);
        ADD_TAP(i < t->count && column + i * t->SW >= 0 && column + i * t->SW < t->IW)
      }
    }
  }
  _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) out[i] = sum[i];
}

// Any activation, any number of outputs and channels.
OUTLINED void finish(const vec* sum, __global float* to, int dst_w, const __global float* from, int res_w, int count,
                     int lanes, int act, float alpha, float beta) {
  for (int i = 0; i < count; ++i) {
    vec v = sum[i];
    if (from) v += vec_load(from + i * res_w);
    vec_store_lanes(activation(v, act, alpha, beta), to + i * dst_w, lanes);
  }
}

WIDE_KERNEL void depthwise_wide_f32(__global const float* restrict src, __global const float* restrict wei,
                                    __global const float* restrict bias, __global const float* residual,
                                    __global float* dst, int has_bias, int has_residual, int src_offset, int dst_offset,
                                    int res_offset, int C, int OH, int OW, int IH, int IW, int KH, int KW, int SH,
                                    int SW, int DH, int DW, int PH, int PW, int src_n, int src_h, int src_w, int dst_n,
                                    int dst_h, int dst_w, int res_n, int res_h, int res_w, int rows_per_item,
                                    int vectors_per_item, int act, float alpha, float beta) {
  const int n = get_global_id(2);
  src += src_offset + n * src_n;
  dst += dst_offset + n * dst_n;
  residual += has_residual ? res_offset + n * res_n : 0;
  const int vectors = (C + VEC - 1) / VEC;
  const int oh_begin = get_global_id(0) * rows_per_item;
  const int oh_end = min(oh_begin + rows_per_item, OH);
  const int c_begin = get_global_id(1) * vectors_per_item * VEC;
  const int c_end = min(c_begin + vectors_per_item * VEC, C);
  const int block = max(BLOCK_FLOATS / (KH * KW) / VEC, 1) * VEC;
  // No activation, ReLU and Clamp are bounds: they need no switch.
  const float low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
  const float high = act == ACT_CLAMP ? beta : INFINITY;
  taps_t taps = {.src_h = DH * src_h, .src_w = src_w, .wei_tap = vectors * VEC, .KW = KW, .DW = DW, .SW = SW, .IW = IW};

  for (int c_block = c_begin; c_block < c_end; c_block += block) {
    const int block_end = min(c_block + block, c_end);
    for (int oh = oh_begin; oh < oh_end; ++oh) {
      const int h0 = oh * SH - PH;
      taps.kh_begin = h0 < 0 ? (DH - 1 - h0) / DH : 0;
      taps.kh_end = clamp((IH - h0 + DH - 1) / DH, taps.kh_begin, KH);
      for (int ow = 0; ow < OW; ow += TILE_W) {
        taps.first = ow * SW - PW;
        taps.count = min(TILE_W, OW - ow);
        __global float* to = dst + oh * dst_h + ow * dst_w;
        const __global float* from = has_residual ? residual + oh * res_h + ow * res_w : 0;
        for (int c = c_block; c < block_end; c += VEC) {
          vec sum[TILE_W];
          sum_taps(sum, has_bias ? vec_load(bias + c) : (vec)0.0f, src + h0 * src_h + c, wei + c, &taps);
          if (act <= ACT_CLAMP && taps.count == TILE_W && c + VEC <= C) {
            _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) {
              if (has_residual) sum[i] += vec_load(from + i * res_w + c);
              vec_store(bounded(sum[i], low, high), to + i * dst_w + c);
            }
          } else {
            finish(sum, to + c, dst_w, has_residual ? from + c : 0, res_w, taps.count, C - c, act, alpha, beta);
          }
        }
      }
    }
  }
}
