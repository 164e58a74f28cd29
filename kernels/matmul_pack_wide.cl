// SPDX-License-Identifier: Apache-2.0
// Packs the right operand of a matrix product that is not constant into the order that conv_wide.cl reads.
//
// formula  dst block v, row k, column j = src[k, v * VEC + j], j < nv * VEC; M N K as in C[M,N] = A[M,K] * B[K,N]
// layout   src f32, strides in elements between k, n and batches. dst f32 [vectors * VEC * K] per batch: blocks of nv
//          vectors, nv the largest power of two that is at most TILE_N and at most the vectors that are left. Columns
//          past N hold anything
// args     0 src r, 1 dst w, 2 src_offset and 3 dst_offset in elements, 4 K, 5 N, 6.. strides, rows_per_item
// macros   VEC and TILE_N: those of the conv_wide.cl that reads dst
// launch   global (ceil(vectors / TILE_N), ceil(K / rows_per_item), batches), local (1,1,1)
// limits   src may be read up to VEC - 1 elements past a row's end
// numerics copies
// source   own
#include "common/vector.clh"
#include "common/wide.clh"

#ifndef TILE_N
#define TILE_N 2
#endif

#define SCALARS(I, F) I(src_offset) I(dst_offset) I(K) I(N) I(src_k) I(src_n) I(src_batch) I(dst_batch) I(rows_per_item)
DEFINE_SCALARS

WIDE_KERNEL void matmul_pack_wide_f32(__global const float* restrict src, __global float* restrict dst, ARGS) {
  UNPACK_SCALARS
  EACH_ITEM {
    const __global float* from = src + src_offset + ITEM(2) * src_batch;
    __global float* to = dst + dst_offset + ITEM(2) * dst_batch;
    const int vectors = (N + VEC - 1) / VEC;
    const int k_begin = ITEM(1) * rows_per_item;
    const int k_end = min(k_begin + rows_per_item, K);
    const int v_end = min(ITEM(0) * TILE_N + TILE_N, vectors);
    for (int v = ITEM(0) * TILE_N; v < v_end;) {
      const int nv = tile_vectors(TILE_N, vectors - v);
      const int width = nv * VEC;
      __global float* block = to + v * VEC * K;
      if (src_n == 1) {
        for (int k = k_begin; k < k_end; ++k) {
          for (int n = 0; n < width; n += VEC)
            vec_store(vec_load(from + k * src_k + v * VEC + n), block + k * width + n);
        }
      } else {
        const int count = min(width, N - v * VEC);
        for (int n = 0; n < count; ++n) {
          const __global float* column = from + (v * VEC + n) * src_n;
          for (int k = k_begin; k < k_end; ++k) block[k * width + n] = column[k * src_k];
        }
      }
      v += nv;
    }
  }
}
