// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution (one input, one output channel per group) in 1 or 2 dimensions for CPU-like devices.
//
// formula  dst[n,oh,ow,c] = act(bias[c] + residual[n,oh,ow,c]
//                               + sum over kh, kw of src[n, oh*SH - PH + kh*DH, ow*SW - PW + kw*DW, c] * wei[kh,kw,c])
//          where a source pixel outside the image counts as zero
// layout   src, dst, residual f32, channels last, strides in elements between n, h and w. wei f32
//          [KH*KW][vectors * VEC], zero padded. bias f32 [C]
// args     0 src r, 1 wei r, 2 bias r, 3 residual r, 4 dst w; bias and residual are read where has_* is 1
//          5.. as named below: *_offset elements from the pointer to the first one
// macros   VEC 16, 8, 4: lanes
// launch   global (ceil(OH / rows_per_item), ceil(vectors / vectors_per_item), N), local (1,1,1). A work-item computes
//          rows_per_item rows for vectors_per_item vectors of channels, TILE_W pixels of a row at a time
// limits   (TILE_W - 1) * SW + (KW - 1) * DW < MAX_COLUMNS. src, bias and residual may be read up to VEC - 1 elements
//          past a row's end, dst is never written there. dst may be the same memory as residual, not overlap src
// numerics f32 sums in order of kh, kw
// source   own
#include "common/activation.clh"
#include "common/wide.clh"

// Output columns per step: 7 divides the widths of image networks (7, 14, 28, 56, 112), and as many sums hide the
// latency of a multiply-add.
#define TILE_W 7

// A block of channels is finished before the next one starts: as many as keep the weights of all taps in 16 KiB.
#define BLOCK_FLOATS 4096

// Columns that a tile at an edge of the image may read, those between its taps included.
#define MAX_COLUMNS 32

// What a row of outputs reads and where it goes, the same for all its channels.
typedef struct {
  int src_h, src_w, wei_tap, dst_w, res_w;  // strides: between the source rows of taps, pixels, the weights of taps
  int kh_begin, kh_end;                     // rows of taps inside the image
  int KW, DW, SW, PW, IW, OW;
  int act;
  float alpha, beta, low, high;  // low and high: bounds of the result, infinite where there are none
} row_t;

// The source columns [first, first + count) of a row, zero outside the image.
static inline void gather_columns(vec* columns, const __global float* row, int first, int count, int IW, int src_w) {
  for (int j = 0; j < count; ++j) {
    vec column = (vec)0.0f;
    if (first + j >= 0 && first + j < IW) column = vec_load(row + (first + j) * src_w);
    columns[j] = column;
  }
}

// sum[i] += the taps of one source row, whatever their number and distance.
static inline void add_taps(vec* sum, const __global float* row, const __global float* wei, int first, int span,
                            bool is_inside, const row_t* r) {
  const int KW = r->KW, DW = r->DW, SW = r->SW, src_w = r->src_w, wei_tap = r->wei_tap;
  if (is_inside) {
    for (int kw = 0; kw < KW; ++kw) {
      const vec w = vec_load(wei + kw * wei_tap);
      const __global float* column = row + (first + kw * DW) * src_w;
      _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] += vec_load(column + i * SW * src_w) * w;
    }
  } else {
    vec columns[MAX_COLUMNS];
    gather_columns(columns, row, first, span, r->IW, src_w);
    for (int kw = 0; kw < KW; ++kw) {
      const vec w = vec_load(wei + kw * wei_tap);
      _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] += columns[kw * DW + i * SW] * w;
    }
  }
}

// The same for TAPS neighbouring taps and a stride of S, both known: each column is loaded once, and all stay in
// registers. A third of the time where rows are short, so that every tile lies at an edge.
#define DEFINE_ADD_TAPS(TAPS, S)                                                                                      \
  static inline void add_taps_##TAPS##_##S(vec* sum, const __global float* row, const __global float* wei, int first, \
                                           int span, bool is_inside, const row_t* r) {                                \
    const int src_w = r->src_w, IW = r->IW, wei_tap = r->wei_tap;                                                     \
    vec columns[(TILE_W - 1) * S + TAPS];                                                                             \
    if (is_inside) {                                                                                                  \
      _Pragma("unroll") for (int j = 0; j < (TILE_W - 1) * S + TAPS; ++j) {                                           \
        columns[j] = vec_load(row + (first + j) * src_w);                                                             \
      }                                                                                                               \
    } else {                                                                                                          \
      _Pragma("unroll") for (int j = 0; j < (TILE_W - 1) * S + TAPS; ++j) {                                           \
        columns[j] = (vec)0.0f;                                                                                       \
        if (first + j >= 0 && first + j < IW) columns[j] = vec_load(row + (first + j) * src_w);                       \
      }                                                                                                               \
    }                                                                                                                 \
    _Pragma("unroll") for (int kw = 0; kw < TAPS; ++kw) {                                                             \
      const vec w = vec_load(wei + kw * wei_tap);                                                                     \
      _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] += columns[i * S + kw] * w;                           \
    }                                                                                                                 \
  }

DEFINE_ADD_TAPS(3, 1)
DEFINE_ADD_TAPS(3, 2)
DEFINE_ADD_TAPS(5, 1)
DEFINE_ADD_TAPS(5, 2)

// Any activation, any number of outputs and channels.
OUTLINED void store_any(const vec* sum, __global float* to, const row_t* r, int count, int lanes) {
  for (int i = 0; i < count; ++i) {
    vec_store_lanes(activation(sum[i], r->act, r->alpha, r->beta), to + i * r->dst_w, lanes);
  }
}

// One row of outputs for one vector of channels, of which `lanes` exist. residual is 0 where there is none.
#define DEFINE_COMPUTE_ROW(NAME, ADD_TAPS)                                                                           \
  OUTLINED void NAME(__global float* dst, const __global float* src, const __global float* wei, vec init,            \
                     const __global float* residual, const row_t* r, int lanes) {                                    \
    const int KW = r->KW, DW = r->DW, SW = r->SW;                                                                    \
    const int span = (TILE_W - 1) * SW + (KW - 1) * DW + 1;                                                          \
    const float low = r->low, high = r->high;                                                                        \
    /* Volatile, or the compiler makes a version of the whole loop for each answer (common/axis.clh). */             \
    const volatile bool adds_residual = residual != 0;                                                               \
    const volatile bool is_plain = r->act <= ACT_CLAMP && lanes >= VEC;                                              \
    for (int ow = 0; ow < r->OW; ow += TILE_W) {                                                                     \
      const int count = min(TILE_W, r->OW - ow);                                                                     \
      const int first = ow * SW - r->PW;                                                                             \
      const bool is_inside = count == TILE_W && first >= 0 && first + span <= r->IW;                                 \
      vec sum[TILE_W];                                                                                               \
      _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) sum[i] = init;                                              \
      if (adds_residual) {                                                                                           \
        _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) {                                                         \
          sum[i] += vec_load(residual + (ow + min(i, count - 1)) * r->res_w);                                        \
        }                                                                                                            \
      }                                                                                                              \
      for (int kh = r->kh_begin; kh < r->kh_end; ++kh) {                                                             \
        ADD_TAPS(sum, src + kh * r->src_h, wei + kh * KW * r->wei_tap, first, span, is_inside, r);                   \
      }                                                                                                              \
      __global float* to = dst + ow * r->dst_w;                                                                      \
      if (is_plain && count == TILE_W) {                                                                             \
        _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) vec_store(bounded(sum[i], low, high), to + i * r->dst_w); \
      } else {                                                                                                       \
        vec done[TILE_W];                                                                                            \
        _Pragma("unroll") for (int i = 0; i < TILE_W; ++i) done[i] = sum[i];                                         \
        store_any(done, to, r, count, lanes);                                                                        \
      }                                                                                                              \
    }                                                                                                                \
  }

DEFINE_COMPUTE_ROW(compute_any_row, add_taps)
DEFINE_COMPUTE_ROW(compute_row_3_1, add_taps_3_1)
DEFINE_COMPUTE_ROW(compute_row_3_2, add_taps_3_2)
DEFINE_COMPUTE_ROW(compute_row_5_1, add_taps_5_1)
DEFINE_COMPUTE_ROW(compute_row_5_2, add_taps_5_2)

static inline void compute_row(__global float* dst, const __global float* src, const __global float* wei, vec init,
                               const __global float* residual, const row_t* r, int lanes) {
  const int kind = r->DW == 1 && r->SW <= 2 ? r->KW * 8 + r->SW : 0;
  switch (kind) {
    case 3 * 8 + 1: return compute_row_3_1(dst, src, wei, init, residual, r, lanes);
    case 3 * 8 + 2: return compute_row_3_2(dst, src, wei, init, residual, r, lanes);
    case 5 * 8 + 1: return compute_row_5_1(dst, src, wei, init, residual, r, lanes);
    case 5 * 8 + 2: return compute_row_5_2(dst, src, wei, init, residual, r, lanes);
    default: return compute_any_row(dst, src, wei, init, residual, r, lanes);
  }
}

#define OFFSETS(I) I(src_offset) I(dst_offset) I(res_offset)
#define SIZES(I) I(C) I(OH) I(OW) I(IH) I(IW) I(KH) I(KW)
#define STEPS(I) I(SH) I(SW) I(DH) I(DW) I(PH) I(PW)
#define STRIDES(I) STRIDES_2D(I, src) STRIDES_2D(I, dst) STRIDES_2D(I, res)
#define WORK(I) I(rows_per_item) I(vectors_per_item)
#define SCALARS(I, F) \
  I(has_bias) I(has_residual) OFFSETS(I) SIZES(I) STEPS(I) STRIDES(I) WORK(I) I(act) F(alpha) F(beta)
DEFINE_SCALARS

WIDE_KERNEL void depthwise_wide_f32(__global const float* restrict src, __global const float* restrict wei,
                                    __global const float* restrict bias, __global const float* residual,
                                    __global float* dst, ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    const int n = ITEM(2);
    const __global float* image = src + src_offset + n * src_n;
    __global float* to = dst + dst_offset + n * dst_n;
    const __global float* from = has_residual ? residual + res_offset + n * res_n : 0;
    const int vectors = (C + VEC - 1) / VEC;
    const int oh_begin = ITEM(0) * rows_per_item;
    const int oh_end = min(oh_begin + rows_per_item, OH);
    const int c_begin = ITEM(1) * vectors_per_item * VEC;
    const int c_end = min(c_begin + vectors_per_item * VEC, C);
    const int block = max(BLOCK_FLOATS / (KH * KW) / VEC, 1) * VEC;
    // No activation, ReLU and Clamp are bounds: they need no switch.
    row_t row = {.src_h = DH * src_h, .src_w = src_w, .wei_tap = vectors * VEC, .dst_w = dst_w, .res_w = res_w};
    row.KW = KW, row.DW = DW, row.SW = SW, row.PW = PW, row.IW = IW, row.OW = OW;
    row.act = act, row.alpha = alpha, row.beta = beta;
    row.low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
    row.high = act == ACT_CLAMP ? beta : INFINITY;

    for (int c_block = c_begin; c_block < c_end; c_block += block) {
      const int block_end = min(c_block + block, c_end);
      for (int oh = oh_begin; oh < oh_end; ++oh) {
        const int h0 = oh * SH - PH;
        row.kh_begin = h0 < 0 ? (DH - 1 - h0) / DH : 0;
        row.kh_end = clamp((IH - h0 + DH - 1) / DH, row.kh_begin, KH);
        for (int c = c_block; c < block_end; c += VEC) {
          compute_row(to + oh * dst_h + c, image + h0 * src_h + c, wei + c, has_bias ? vec_load(bias + c) : (vec)0.0f,
                      from ? from + oh * res_h + c : 0, &row, C - c);
        }
      }
    }
  }
}
