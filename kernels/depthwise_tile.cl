// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution (one input, one output channel per group) in 1 or 2 dimensions for GPUs.
//
// formula  that of depthwise_wide.cl
// layout   as there; wei f32 [KH*KW][C]
// args     those of depthwise_wide.cl without rows_per_item and vectors_per_item
// macros   none
// launch   global (C rounded up to the local size, OH * OW, N), local (any, 1, 1). A work-item computes one element:
//          neighbours read neighbouring channels
// limits   dst may be the same memory as residual, not overlap src
// numerics f32 sums in order of kh, kw
// source   own
#define VEC 1
#include "common/activation.clh"

__kernel void depthwise_tile_f32(__global const float* restrict src, __global const float* restrict wei,
                                 __global const float* restrict bias, __global const float* residual,
                                 __global float* dst, int has_bias, int has_residual, int src_offset, int dst_offset,
                                 int res_offset, int C, int OH, int OW, int IH, int IW, int KH, int KW, int SH, int SW,
                                 int DH, int DW, int PH, int PW, int src_n, int src_h, int src_w, int dst_n, int dst_h,
                                 int dst_w, int res_n, int res_h, int res_w, int act, float alpha, float beta) {
  const int c = get_global_id(0);
  const int oh = get_global_id(1) / OW;
  const int ow = get_global_id(1) % OW;
  const int n = get_global_id(2);
  if (c >= C) return;
  float sum = has_bias ? bias[c] : 0.0f;
  for (int kh = 0; kh < KH; ++kh) {
    const int ih = oh * SH - PH + kh * DH;
    if (ih < 0 || ih >= IH) continue;
    for (int kw = 0; kw < KW; ++kw) {
      const int iw = ow * SW - PW + kw * DW;
      if (iw < 0 || iw >= IW) continue;
      sum = fma(src[src_offset + n * src_n + ih * src_h + iw * src_w + c], wei[(kh * KW + kw) * C + c], sum);
    }
  }
  if (has_residual) sum += residual[res_offset + n * res_n + oh * res_h + ow * res_w + c];
  dst[dst_offset + n * dst_n + oh * dst_h + ow * dst_w + c] = activation(sum, act, alpha, beta);
}
