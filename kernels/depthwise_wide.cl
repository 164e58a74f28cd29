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

// Output columns per step: 7 divides the widths of image networks (7, 14, 28, 56, 112), and as many sums hide the
// latency of a multiply-add.
#define TILE_W 7

// sum[i] += the taps of one kernel row. The KW taps share the columns that they read, so that a column is loaded once.
// `first` is the source column of output 0, tap 0; columns outside [0, IW) are zero where IS_GUARDED.
#define DEFINE_ROW(NAME, KW, SW, IS_GUARDED)                                                               \
  static inline void NAME(vec* sum, const __global float* row, int src_w, int first, int IW,               \
                          const __global float* wei, int wei_tap) {                                        \
    vec w[KW];                                                                                             \
    _Pragma("unroll") for (int k = 0; k < KW; ++k) w[k] = vec_load(wei + k * wei_tap);                     \
    _Pragma("unroll") for (int j = 0; j < (TILE_W - 1) * SW + KW; ++j) {                                   \
      vec column = (vec)0.0f;                                                                              \
      if (!IS_GUARDED || (first + j >= 0 && first + j < IW)) column = vec_load(row + (first + j) * src_w); \
      _Pragma("unroll") for (int k = 0; k < KW; ++k) {                                                     \
        if (j - k >= 0 && (j - k) % SW == 0 && (j - k) / SW < TILE_W) sum[(j - k) / SW] += column * w[k];  \
      }                                                                                                    \
    }                                                                                                      \
  }

DEFINE_ROW(row_k3s1, 3, 1, 0)
DEFINE_ROW(row_k3s1_guarded, 3, 1, 1)
DEFINE_ROW(row_k3s2, 3, 2, 0)
DEFINE_ROW(row_k3s2_guarded, 3, 2, 1)
DEFINE_ROW(row_k5s1, 5, 1, 0)
DEFINE_ROW(row_k5s1_guarded, 5, 1, 1)
DEFINE_ROW(row_k5s2, 5, 2, 0)
DEFINE_ROW(row_k5s2_guarded, 5, 2, 1)

// Any kernel width, stride and dilation.
static inline void row_any(vec* sum, const __global float* row, int src_w, int first, int IW, const __global float* wei,
                           int wei_tap, int KW, int SW, int DW) {
  for (int k = 0; k < KW; ++k) {
    const vec w = vec_load(wei + k * wei_tap);
    _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) {
      const int iw = first + i * SW + k * DW;
      if (iw >= 0 && iw < IW) sum[i] += vec_load(row + iw * src_w) * w;
    }
  }
}

static inline void store_lanes(vec v, __global float* to, int lanes) {
  if (lanes >= VEC) {
    vec_store(v, to);
  } else {
    float values[VEC];
    vec_store(v, values);
    for (int i = 0; i < lanes; ++i) to[i] = values[i];
  }
}

__kernel void depthwise_wide_f32(__global const float* restrict src, __global const float* restrict wei,
                                 __global const float* restrict bias, __global const float* residual,
                                 __global float* dst, int has_bias, int has_residual, int src_offset, int dst_offset,
                                 int res_offset, int C, int OH, int OW, int IH, int IW, int KH, int KW, int SH, int SW,
                                 int DH, int DW, int PH, int PW, int src_n, int src_h, int src_w, int dst_n, int dst_h,
                                 int dst_w, int res_n, int res_h, int res_w, int rows_per_item, int vectors_per_item,
                                 int act, float alpha, float beta) {
  const int n = get_global_id(2);
  src += src_offset + n * src_n;
  dst += dst_offset + n * dst_n;
  residual += has_residual ? res_offset + n * res_n : 0;
  const int vectors = (C + VEC - 1) / VEC;
  const int wei_tap = vectors * VEC;
  const int oh_begin = get_global_id(0) * rows_per_item;
  const int oh_end = min(oh_begin + rows_per_item, OH);
  const int c_begin = get_global_id(1) * vectors_per_item * VEC;
  const int c_end = min(c_begin + vectors_per_item * VEC, C);
  const int form = DW == 1 && (KW == 3 || KW == 5) && (SW == 1 || SW == 2) ? KW * 2 + SW : 0;

  // No activation, ReLU and Clamp are bounds: they need no switch.
  const float low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
  const float high = act == ACT_CLAMP ? beta : INFINITY;

  for (int oh = oh_begin; oh < oh_end; ++oh) {
    const int h0 = oh * SH - PH;
    for (int c = c_begin; c < c_end; c += VEC) {
      const vec init = has_bias ? vec_load(bias + c) : (vec)0.0f;
      for (int ow = 0; ow < OW; ow += TILE_W) {
        const int count = min(TILE_W, OW - ow);
        const int first = ow * SW - PW;
        const bool is_inside = count == TILE_W && first >= 0 && first + (TILE_W - 1) * SW + (KW - 1) * DW < IW;
        vec sum[TILE_W];
        _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] = init;
        for (int kh = 0; kh < KH; ++kh) {
          const int ih = h0 + kh * DH;
          if (ih < 0 || ih >= IH) continue;
          const __global float* row = src + ih * src_h + c;
          const __global float* w = wei + kh * KW * wei_tap + c;
          switch (form) {
            case 7:
              if (is_inside) {
                row_k3s1(sum, row, src_w, first, IW, w, wei_tap);
              } else {
                row_k3s1_guarded(sum, row, src_w, first, IW, w, wei_tap);
              }
              break;
            case 8:
              if (is_inside) {
                row_k3s2(sum, row, src_w, first, IW, w, wei_tap);
              } else {
                row_k3s2_guarded(sum, row, src_w, first, IW, w, wei_tap);
              }
              break;
            case 11:
              if (is_inside) {
                row_k5s1(sum, row, src_w, first, IW, w, wei_tap);
              } else {
                row_k5s1_guarded(sum, row, src_w, first, IW, w, wei_tap);
              }
              break;
            case 12:
              if (is_inside) {
                row_k5s2(sum, row, src_w, first, IW, w, wei_tap);
              } else {
                row_k5s2_guarded(sum, row, src_w, first, IW, w, wei_tap);
              }
              break;
            default: row_any(sum, row, src_w, first, IW, w, wei_tap, KW, SW, DW);
          }
        }
        __global float* to = dst + oh * dst_h + ow * dst_w + c;
        const __global float* from = residual + oh * res_h + ow * res_w + c;
        if (act <= ACT_CLAMP && count == TILE_W && c + VEC <= C) {
          _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) {
            if (has_residual) sum[i] += vec_load(from + i * res_w);
            vec_store(bounded(sum[i], low, high), to + i * dst_w);
          }
        } else {
          vec done[TILE_W];
          _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) done[i] = sum[i];
          for (int i = 0; i < count; ++i) {
            if (has_residual) done[i] += vec_load(from + i * res_w);
            store_lanes(activation(done[i], act, alpha, beta), to + i * dst_w, C - c);
          }
        }
      }
    }
  }
}
