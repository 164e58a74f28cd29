// SPDX-License-Identifier: Apache-2.0
// Dense convolution in 1 or 2 dimensions, and matrix product, of bytes for CPU-like devices: the form of conv_wide.cl
// with integer sums.
//
// formula  for output pixel p = (n, oh, ow) and channel oc:
//            dst[p,oc] = act(bias[oc] + residual[p,oc] + scale[oc] * (init[oc]
//                            + sum over kh, kw, ic of src[n,ih,iw,ic] * wei[oc,kh,kw,ic]))
//          with ih = oh * SH - PH + kh * DH, and so for w; a source pixel outside the image counts as zero_point in
//          every channel. With init[oc] = -zero_point * (sum of wei[oc]) this is the convolution of
//          src - zero_point, padded with zeros. A matrix product C[M,N] = A[M,K] * B[K,N] is OW = M, IC = K, OC = N.
// layout   src u8, channels last, strides in bytes between n, h and w.
//          wei i8, blocks of nv vectors of output channels, [ceil(K / 4)][nv * VEC][4] each, K = KH*KW*IC with ic
//          innermost; nv is the largest power of two that is at most TILE_N and at most the vectors that are left.
//          Channels past OC and k past K are zero.
//          scale f32 and init i32, both of whole vectors. bias f32 [OC].
//          dst, residual f32, channels last, strides in elements
// args     0 src r, 1 wei r, 2 scale r, 3 init r, 4 bias r, 5 residual r, 6 dst w; bias and residual are read where
//          has_* is 1
//          7.. as named below: *_offset elements from the pointer to the first one, PIXELS = N*OH*OW
// macros   VEC 16, 8, 4: lanes; TILE_M pixels and TILE_N vectors (a power of two) of the register tile;
//          KC: longest K; VNNI 1 (VEC 16 only): products by the instruction vpdpbusd where the compiler knows it,
//          0: by shifts and multiplications, right everywhere
// launch   global (ceil(tiles / tiles_per_item), ceil(vectors / vectors_per_item), 1), local (1,1,1). A work-item
//          computes tiles_per_item tiles of TILE_M pixels for vectors_per_item vectors of channels.
// limits   K <= KC <= 32768, so that init and any part of the sum fit i32 together. src may be read up to 63 bytes
//          past a row's end, bias and residual up to VEC - 1 elements; dst is never written there. dst may be the
//          same memory as residual
// numerics exact i32 sums, then one product and the additions in f32
// source   own
#include "common/activation.clh"
#include "common/conv.clh"
#include "common/wide.clh"

#ifndef TILE_M
#define TILE_M 14
#endif
#ifndef TILE_N
#define TILE_N 2
#endif
#ifndef KC
#define KC 9216
#endif
#ifndef VNNI
#define VNNI 0
#endif

// PoCL's __has_builtin does not know builtins of features that its target lacks, although a function may ask for them.
// Clang 7 is the first to have this one, and the types are those of clang up to 21.
#if VNNI && defined(__x86_64__) && defined(__clang__) && __clang_major__ >= 7 && __clang_major__ <= 21
#define HAS_DOT 1
#else
#define HAS_DOT 0
#endif

// A lane of a and w holds four bytes: acc + a.0 * w.0 + ... + a.3 * w.3, those of a unsigned, those of w signed.
#if HAS_DOT
#define DOT_TARGET __attribute__((target("avx512f,avx512vnni")))
static inline DOT_TARGET __attribute__((always_inline)) ivec dot4(ivec acc, ivec a, ivec w) {
  return __builtin_ia32_vpdpbusd512(acc, a, w);
}
#else
#define DOT_TARGET
static inline ivec dot4(ivec acc, ivec a, ivec w) {
  acc += (a & 255) * ((w << 24) >> 24);
  acc += ((a >> 8) & 255) * ((w << 16) >> 24);
  acc += ((a >> 16) & 255) * ((w << 8) >> 24);
  return acc + ((a >> 24) & 255) * (w >> 24);
}
#endif

// The panel is written as bytes and read as words of four.
typedef int word_t __attribute__((may_alias));

typedef ivec unaligned_ivec __attribute__((aligned(4)));
static inline ivec ivec_load(const __global int* p) { return *(const __global unaligned_ivec*)p; }

// Bytes are copied 64 at a time.
typedef uint16 chunk_t;
typedef chunk_t unaligned_chunk __attribute__((aligned(1), may_alias));
#define CHUNK 64

// Rows of the panel are a constant distance apart; the extra chunks take what copies write past a row's end and keep
// rows from starting at equal places of a page.
#define ROW (KC + 2 * CHUNK)

// What a tile reads: the kernel's arguments of the same names.
typedef struct {
  int IC, IH, IW, KH, KW, SH, SW, DH, DW, PH, PW;
  int src_n, src_h, src_w;
  uint padding;  // zero_point in each of four bytes
} source_t;

// [begin, end) of a row; writes up to a chunk past it, so rows are written in ascending order.
static inline void copy_bytes(uchar* to, const __global uchar* from, int begin, int end) {
  for (int i = begin; i < end; i += CHUNK) {
    *(unaligned_chunk*)(to + i) = *(const __global unaligned_chunk*)(from + i);
  }
}

static inline void fill_bytes(uchar* to, int begin, int end, uint value) {
  for (int i = begin; i < end; i += CHUNK) *(unaligned_chunk*)(to + i) = (chunk_t)value;
}

static inline void gather_run(uchar* row, const __global uchar* from, int run, int valid_begin, int valid_end,
                              uint padding) {
  valid_begin = clamp(valid_begin, 0, run);
  valid_end = clamp(valid_end, valid_begin, run);
  fill_bytes(row, 0, valid_begin, padding);
  copy_bytes(row, from, valid_begin, valid_end);
  fill_bytes(row, valid_end, run, padding);
}

// Gathers what pixel p reads, tap by tap.
OUTLINED void gather_taps(uchar* row, const __global uchar* src, pixel_t p, const source_t* s) {
  for (int kh = 0; kh < s->KH; ++kh) {
    const int ih = source_index(p.h * s->SH - s->PH + kh * s->DH, 1, s->IH);
    for (int kw = 0; kw < s->KW; ++kw, row += s->IC) {
      const int iw = source_index(p.w * s->SW - s->PW + kw * s->DW, 1, s->IW);
      const int valid = ih >= 0 && iw >= 0 ? s->IC : 0;
      gather_run(row, src + p.n * s->src_n + ih * s->src_h + iw * s->src_w, s->IC, 0, valid, s->padding);
    }
  }
}

// The same where the taps of a kernel row are neighbours in memory: one copy for all of them.
OUTLINED void gather_rows(uchar* row, const __global uchar* src, pixel_t p, const source_t* s) {
  const int run = s->KW * s->IC;
  const int w0 = p.w * s->SW - s->PW;
  const int valid_begin = max(-w0, 0) * s->IC;
  const int valid_end = min(s->IW - w0, s->KW) * s->IC;
  for (int kh = 0; kh < s->KH; ++kh, row += run) {
    const int ih = source_index(p.h * s->SH - s->PH + kh * s->DH, 1, s->IH);
    gather_run(row, src + p.n * s->src_n + ih * s->src_h + w0 * s->src_w, run, valid_begin, ih >= 0 ? valid_end : 0,
               s->padding);
  }
}

// What a tile starts from and where it goes.
typedef struct {
  const __global float* scale;
  const __global int* init;
  const __global float* bias;  // 0 where there is none, like residual
  const __global float* residual;
  __global float* dst;
  float low, high;          // bounds of the result, infinite where there are none
  int residual_at[TILE_M];  // of each row, in residual; rows that are not stored repeat a valid one
  int dst_at[TILE_M];
} target_t;

// Computes TILE_M rows of NV vectors with all sums in registers. Stores them bounded where is_plain, else leaves them
// in tile for store_tile.
#define DEFINE_SUM_TILE(NV)                                                                                 \
  OUTLINED DOT_TARGET void sum_tile_##NV(vec* tile, const uchar* panel, const __global int* wei, int count, \
                                         const target_t* t, int oc, bool is_plain) {                        \
    ivec acc[TILE_M][NV];                                                                                   \
    _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                        \
      const ivec init = ivec_load(t->init + oc + n * VEC);                                                  \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) acc[m][n] = init;                                  \
    }                                                                                                       \
    for (int k = 0; k < count; ++k) {                                                                       \
      ivec w[NV];                                                                                           \
      _Pragma("unroll") for (int n = 0; n < NV; ++n) w[n] = ivec_load(wei + (k * NV + n) * VEC);            \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                  \
        const int a = ((const word_t*)(panel + m * ROW))[k];                                                \
        _Pragma("unroll") for (int n = 0; n < NV; ++n) acc[m][n] = dot4(acc[m][n], (ivec)a, w[n]);          \
      }                                                                                                     \
    }                                                                                                       \
    __global float* dst = t->dst + oc;                                                                      \
    const float low = t->low, high = t->high;                                                               \
    _Pragma("unroll") for (int n = 0; n < NV; ++n) {                                                        \
      const vec scale = vec_load(t->scale + oc + n * VEC);                                                  \
      const vec bias = t->bias ? vec_load(t->bias + oc + n * VEC) : (vec)0.0f;                              \
      _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                  \
        vec r = to_vec(acc[m][n]) * scale + bias;                                                           \
        if (t->residual) r += vec_load(t->residual + t->residual_at[m] + oc + n * VEC);                     \
        if (is_plain) {                                                                                     \
          vec_store(bounded(r, low, high), dst + t->dst_at[m] + n * VEC);                                   \
        } else {                                                                                            \
          tile[m * NV + n] = r;                                                                             \
        }                                                                                                   \
      }                                                                                                     \
    }                                                                                                       \
  }

#define TO_VEC2(width) convert_float##width
#define TO_VEC1(width) TO_VEC2(width)
#define to_vec TO_VEC1(VEC)

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

static inline void sum_tile(vec* tile, const uchar* panel, const __global int* wei, int count, const target_t* t,
                            int oc, int nv, bool is_plain) {
#if TILE_N >= 8
  if (nv == 8) sum_tile_8(tile, panel, wei, count, t, oc, is_plain);
#endif
#if TILE_N >= 4
  if (nv == 4) sum_tile_4(tile, panel, wei, count, t, oc, is_plain);
#endif
#if TILE_N >= 2
  if (nv == 2) sum_tile_2(tile, panel, wei, count, t, oc, is_plain);
#endif
  if (nv == 1) sum_tile_1(tile, panel, wei, count, t, oc, is_plain);
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

#define OFFSETS(I) I(src_offset) I(dst_offset) I(res_offset)
#define SIZES(I) I(PIXELS) I(IC) I(OC) I(OH) I(OW) I(IH) I(IW) I(KH) I(KW)
#define STEPS(I) I(SH) I(SW) I(DH) I(DW) I(PH) I(PW)
#define STRIDES(I) STRIDES_2D(I, src) STRIDES_2D(I, dst) STRIDES_2D(I, res)
#define WORK(I) I(tiles_per_item) I(vectors_per_item)
#define SCALARS(I, F) \
  I(has_bias) I(has_residual) OFFSETS(I) SIZES(I) STEPS(I) I(zero_point) STRIDES(I) WORK(I) I(act) F(alpha) F(beta)
DEFINE_SCALARS

WIDE_KERNEL void conv_int8_wide_f32(__global const uchar* restrict src, __global const int* restrict wei,
                                    __global const float* restrict scale, __global const int* restrict init,
                                    __global const float* restrict bias, __global const float* residual,
                                    __global float* dst, ARGS) {
  UNPACK_SCALARS
  uchar panel[TILE_M * ROW] __attribute__((aligned(128)));
  vec tile[TILE_M * TILE_N];
  const source_t s = {IC, IH, IW, KH, KW, SH, SW, DH, DW, PH, PW, src_n, src_h, src_w, (uint)zero_point * 0x01010101u};
  src += src_offset;
  target_t target;
  target.scale = scale;
  target.init = init;
  target.bias = has_bias ? bias : 0;
  target.residual = has_residual ? residual + res_offset : 0;
  target.dst = dst + dst_offset;
  target.low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
  target.high = act == ACT_CLAMP ? beta : INFINITY;

  const bool is_one_run = KW == 1 || (DW == 1 && src_w == IC);
  const int quads = (KH * KW * IC + 3) / 4;
  const int vectors = (OC + VEC - 1) / VEC;
  EACH_ITEM {
    const int tile_begin = ITEM(0) * tiles_per_item;
    const int tile_end = min(tile_begin + tiles_per_item, (PIXELS + TILE_M - 1) / TILE_M);
    const int vector_begin = ITEM(1) * vectors_per_item;
    const int vector_end = min(vector_begin + vectors_per_item, vectors);

    for (int t = tile_begin; t < tile_end; ++t) {
      const int rows = min(TILE_M, PIXELS - t * TILE_M);
      pixel_t p = pixel_at(t * TILE_M, 1, OH, OW);
      for (int m = 0; m < rows; ++m) {
        if (is_one_run) {
          gather_rows(panel + m * ROW, src, p, &s);
        } else {
          gather_taps(panel + m * ROW, src, p, &s);
        }
        target.dst_at[m] = p.n * dst_n + p.h * dst_h + p.w * dst_w;
        target.residual_at[m] = p.n * res_n + p.h * res_h + p.w * res_w;
        p = next_pixel(p, 1, OH, OW);
      }
      for (int m = rows; m < TILE_M; ++m) {
        fill_bytes(panel + m * ROW, 0, quads * 4, 0);
        target.residual_at[m] = target.residual_at[0];
      }
      for (int v = vector_begin; v < vector_end;) {
        const int nv = tile_vectors(TILE_N, vectors - v);
        const int oc = v * VEC;
        const bool is_plain = act <= ACT_CLAMP && rows == TILE_M && oc + nv * VEC <= OC;
        sum_tile(tile, panel, wei + oc * quads, quads, &target, oc, nv, is_plain);
        if (!is_plain) store_tile(tile, &target, rows, nv, oc, OC, act, alpha, beta);
        v += nv;
      }
    }
  }
}
