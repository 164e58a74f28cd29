// SPDX-License-Identifier: Apache-2.0
// Winograd's form of a 3x3 convolution of stride 1, F(4x4, 3x3) or F(2x2, 3x3), for CPU-like devices: a quarter, or
// 4/9, of the multiplications.
//
// formula  dst[n,oh,ow,oc] = act(bias[oc] + residual[n,oh,ow,oc]
//                                + sum over kh, kw, ic of src[n, oh - PH + kh, ow - PW + kw, ic] * w[oc,ic,kh,kw])
//          as Y = A^T [sum over ic of (G w G^T) * (B^T d B)] A for every tile of OUT x OUT outputs, where d are the
//          POINTS x POINTS source pixels that it reads. A source pixel outside the image counts as zero
// layout   src, dst, residual f32, channels last, strides in elements between n, h and w. wei f32, G w G^T of each
//          filter, packed by the host as conv_wide.cl says for a kernel of PRODUCTS taps. bias f32 [OC].
//          scratch f32, scratch_item elements for each work-item:
//            [PRODUCTS][block / TILE_M][ceil(IC / VEC)][TILE_M][VEC]  transformed source of a block of tiles
//            [PRODUCTS][block][chunk * VEC]                           sums of the block for `chunk` vectors of channels
// args     0 src r, 1 wei r, 2 bias r, 3 residual r, 4 dst w, 5 scratch rw; bias and residual are read where has_* is 1
//          6.. as named below: *_offset elements from the pointer to the first one, tiles = N * tiles_h * tiles_w
// macros   VEC 16, 8, 4: lanes; TILE_M tiles and TILE_N vectors (a power of two) of the register tile; OUT 4 or 2
// launch   global (ceil(tiles / tiles_per_item), ceil(vectors / vectors_per_item)), local (1,1,1). A work-item computes
//          tiles_per_item tiles, `block` at a time, for vectors_per_item vectors of channels, `chunk` at a time; block
//          is a multiple of TILE_M, vectors_per_item and chunk are multiples of TILE_N
// limits   src, bias and residual may be read up to VEC - 1 elements past a row's end, dst is never written there. dst
//          may be the same memory as residual, not overlap src
// numerics f32. Errors grow with the transforms: about 10 times those of the direct sum for OUT 4, 2 times for OUT 2.
//          NaN and infinity reach every output of the tiles that read them
// source   A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015: the matrices A, B, G
#include "common/activation.clh"
#include "common/wide.clh"
#include "common/winograd.clh"

#ifndef TILE_M
#define TILE_M 14
#endif
#ifndef TILE_N
#define TILE_N 2
#endif
// The convolution's shape and where its arrays lie: the kernel's arguments of the same names.
typedef struct {
  int IC, OH, OW, IH, IW, PH, PW, src_n, src_h, src_w, dst_n, dst_h, dst_w, res_n, res_h, res_w, tiles_h, tiles_w;
  int act;
  float alpha, beta, low, high;  // low and high: bounds of the result, infinite where there are none
} shape_t;

// A tile: its image and its first output pixel.
typedef struct {
  int n, oh, ow;
} tile_t;

static inline tile_t tile_at(int index, const shape_t* s) {
  tile_t t;
  t.ow = index % s->tiles_w * OUT;
  index /= s->tiles_w;
  t.oh = index % s->tiles_h * OUT;
  t.n = index / s->tiles_h;
  return t;
}

// The source pixels of a tile that lies at an edge of the image.
OUTLINED void load_edge(vec* d, const __global float* src, int ih, int iw, const shape_t* s) {
  for (int h = 0; h < POINTS; ++h) {
    for (int w = 0; w < POINTS; ++w) {
      const bool is_inside = ih + h >= 0 && ih + h < s->IH && iw + w >= 0 && iw + w < s->IW;
      d[h * POINTS + w] = is_inside ? vec_load(src + (ih + h) * s->src_h + (iw + w) * s->src_w) : (vec)0.0f;
    }
  }
}

// Writes B^T d B of a tile for all channels: `to` points at its first vector, products are `product` elements apart.
OUTLINED void transform_tile(__global float* to, int product, const __global float* src, tile_t t, const shape_t* s) {
  const int ih = t.oh - s->PH;
  const int iw = t.ow - s->PW;
  const bool is_inside = ih >= 0 && iw >= 0 && ih + POINTS <= s->IH && iw + POINTS <= s->IW;
  for (int c = 0; c < s->IC; c += VEC, to += TILE_M * VEC) {
    const __global float* from = src + t.n * s->src_n + c;
    vec d[PRODUCTS];
    if (is_inside) {
      from += ih * s->src_h + iw * s->src_w;
      _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) {
        d[i] = vec_load(from + i / POINTS * s->src_h + i % POINTS * s->src_w);
      }
    } else {
      load_edge(d, from, ih, iw, s);
    }
    _Pragma("unroll") for (int h = 0; h < POINTS; ++h) transform_source(d + h * POINTS, 1);
    _Pragma("unroll") for (int w = 0; w < POINTS; ++w) transform_source(d + w, POINTS);
    _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) vec_store(d[i], to + i * product);
  }
}

// Sums one product of TILE_M tiles for NV vectors of channels: to[m][NV] = sum over ic of a[ic / VEC][m][ic % VEC] *
// wei[ic][NV], with to_m elements between the rows of `to`. Prefetches a vector from
// `ahead` on for each ic.
#define DEFINE_SUM_TILE(NV)                                                                                     \
  OUTLINED void sum_tile_##NV(__global float* to, int to_m, const __global float* a, const __global float* wei, \
                              const __global float* ahead, int IC) {                                            \
    vec acc[TILE_M][NV];                                                                                        \
    _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                        \
      _Pragma("unroll") for (int n = 0; n < NV; ++n) acc[m][n] = (vec)0.0f;                                     \
    }                                                                                                           \
    for (int c = 0; c < IC; c += VEC, a += TILE_M * VEC) {                                                      \
      const int lanes = min(VEC, IC - c);                                                                       \
      for (int k = 0; k < lanes; ++k, wei += NV * VEC, ahead += VEC) {                                          \
        vec w[NV];                                                                                              \
        PREFETCH(ahead);                                                                                        \
        _Pragma("unroll") for (int n = 0; n < NV; ++n) w[n] = vec_load(wei + n * VEC);                          \
        _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                    \
          const vec x = (vec)a[m * VEC + k];                                                                    \
          _Pragma("unroll") for (int n = 0; n < NV; ++n) acc[m][n] += x * w[n];                                 \
        }                                                                                                       \
      }                                                                                                         \
    }                                                                                                           \
    _Pragma("unroll") for (int m = 0; m < TILE_M; ++m) {                                                        \
      _Pragma("unroll") for (int n = 0; n < NV; ++n) vec_store(acc[m][n], to + m * to_m + n * VEC);             \
    }                                                                                                           \
  }

DEFINE_SUM_TILE(1)
#if TILE_N >= 2
DEFINE_SUM_TILE(2)
#endif

static inline void sum_tile(__global float* to, int to_m, const __global float* a, const __global float* wei,
                            const __global float* ahead, int IC, int nv) {
#if TILE_N >= 2
  if (nv == 2) sum_tile_2(to, to_m, a, wei, ahead, IC);
#endif
  if (nv == 1) sum_tile_1(to, to_m, a, wei, ahead, IC);
}

// Any activation, any number of outputs and channels.
OUTLINED void store_any(__global float* dst, const vec* y, int h_end, int w_end, int lanes, const shape_t* s) {
  for (int h = 0; h < h_end; ++h) {
    for (int w = 0; w < w_end; ++w) {
      vec_store_lanes(activation(y[h * OUT + w], s->act, s->alpha, s->beta), dst + h * s->dst_h + w * s->dst_w, lanes);
    }
  }
}

// Writes the outputs of a tile for one vector of channels, of which `lanes` exist. residual is 0 where there is none.
OUTLINED void store_tile(__global float* dst, const __global float* sums, int product, vec bias,
                         const __global float* residual, tile_t t, int lanes, const shape_t* s) {
  vec m[PRODUCTS], rows[OUT * POINTS], y[OUT * OUT];
  _Pragma("unroll") for (int i = 0; i < PRODUCTS; ++i) m[i] = vec_load(sums + i * product);
  _Pragma("unroll") for (int h = 0; h < POINTS; ++h) transform_sums(m + h * POINTS, 1, rows + h * OUT);
  _Pragma("unroll") for (int w = 0; w < OUT; ++w) {
    vec column[OUT];
    transform_sums(rows + w, OUT, column);
    _Pragma("unroll") for (int h = 0; h < OUT; ++h) y[h * OUT + w] = column[h] + bias;
  }
  const int h_end = min(OUT, s->OH - t.oh);
  const int w_end = min(OUT, s->OW - t.ow);
  dst += t.n * s->dst_n + t.oh * s->dst_h + t.ow * s->dst_w;
  if (residual) {
    residual += t.n * s->res_n + t.oh * s->res_h + t.ow * s->res_w;
    _Pragma("unroll") for (int i = 0; i < OUT * OUT; ++i) {
      // Pixels that do not exist repeat the last one.
      y[i] += vec_load(residual + min(i / OUT, h_end - 1) * s->res_h + min(i % OUT, w_end - 1) * s->res_w);
    }
  }
  if (s->act <= ACT_CLAMP && lanes >= VEC && h_end == OUT && w_end == OUT) {
    const float low = s->low, high = s->high;
    _Pragma("unroll") for (int i = 0; i < OUT * OUT; ++i) {
      vec_store(bounded(y[i], low, high), dst + i / OUT * s->dst_h + i % OUT * s->dst_w);
    }
  } else {
    store_any(dst, y, h_end, w_end, lanes, s);
  }
}

#define OFFSETS(I) I(src_offset) I(dst_offset) I(res_offset)
#define SIZES(I) I(IC) I(OC) I(OH) I(OW) I(IH) I(IW) I(PH) I(PW)
#define STRIDES(I) STRIDES_2D(I, src) STRIDES_2D(I, dst) STRIDES_2D(I, res)
#define WORK(I) I(tiles_h) I(tiles_w) I(tiles) I(tiles_per_item) I(block) I(vectors_per_item) I(chunk) I(scratch_item)
#define SCALARS(I, F) I(has_bias) I(has_residual) OFFSETS(I) SIZES(I) STRIDES(I) WORK(I) I(act) F(alpha) F(beta)
DEFINE_SCALARS

WIDE_KERNEL void winograd_wide_f32(__global const float* restrict src, __global const float* restrict wei,
                                   __global const float* restrict bias, __global const float* residual,
                                   __global float* dst, __global float* restrict scratch, ARGS) {
  UNPACK_SCALARS
  shape_t s = {IC,    OH,    OW,    IH,    IW,    PH,      PW,      src_n, src_h, src_w, dst_n,
               dst_h, dst_w, res_n, res_h, res_w, tiles_h, tiles_w, act,   alpha, beta};
  s.low = act == ACT_RELU ? 0.0f : (act == ACT_CLAMP ? alpha : -INFINITY);
  s.high = act == ACT_CLAMP ? beta : INFINITY;
  const int depth = (IC + VEC - 1) / VEC * VEC;
  const int source_product = block * depth;
  const int sums_product = block * chunk * VEC;
  src += src_offset;
  dst += dst_offset;
  residual += has_residual ? res_offset : 0;
  const int vectors = (OC + VEC - 1) / VEC;
  EACH_ITEM {
    __global float* source = scratch + item.number * scratch_item;
    __global float* sums = source + PRODUCTS * source_product;
    const int item_begin = ITEM(0) * tiles_per_item;
    const int item_end = min(item_begin + tiles_per_item, tiles);
    const int vector_begin = ITEM(1) * vectors_per_item;
    const int vector_end = min(vector_begin + vectors_per_item, vectors);

    for (int begin = item_begin; begin < item_end; begin += block) {
      const int count = min(block, item_end - begin);
      const int rows = (count + TILE_M - 1) / TILE_M * TILE_M;
      for (int t = 0; t < rows; ++t) {
        // Rows that are not stored repeat the last tile.
        transform_tile(source + (t / TILE_M * depth * TILE_M) + t % TILE_M * VEC, source_product, src,
                       tile_at(begin + min(t, count - 1), &s), &s);
      }
      for (int v0 = vector_begin; v0 < vector_end; v0 += chunk) {
        const int v1 = min(v0 + chunk, vector_end);
        for (int i = 0; i < PRODUCTS; ++i) {
          for (int v = v0, nv; v < v1; v += nv) {
            nv = tile_vectors(TILE_N, vectors - v);
            const __global float* block_wei = wei + (v * PRODUCTS + i * nv) * IC * VEC;
            // The weights that come next: of the next range of channels, of the next product.
            const int next = v + nv < v1 ? v + nv : v0;
            const int next_nv = tile_vectors(TILE_N, vectors - next);
            const __global float* ahead = wei + (next * PRODUCTS + (i + (next == v0)) * next_nv) * IC * VEC;
            for (int t = 0; t < rows; t += TILE_M) {
              const int part = min(t / TILE_M, TILE_N - 1);
              sum_tile(sums + i * sums_product + (t * chunk + v - v0) * VEC, chunk * VEC,
                       source + i * source_product + t * depth, block_wei, ahead + part * IC * VEC, IC, nv);
            }
          }
        }
        for (int t = 0; t < count; ++t) {
          const tile_t tile = tile_at(begin + t, &s);
          for (int v = v0; v < v1; ++v) {
            const int c = v * VEC;
            store_tile(dst + c, sums + (t * chunk + v - v0) * VEC, sums_product,
                       has_bias ? vec_load(bias + c) : (vec)0.0f, has_residual ? residual + c : 0, tile, OC - c, &s);
          }
        }
      }
    }
  }
}
