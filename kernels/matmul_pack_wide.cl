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

WIDE_KERNEL void matmul_pack_wide_f32(__global const float* restrict src, __global float* restrict dst, int src_offset,
                                      int dst_offset, int K, int N, int src_k, int src_n, int src_batch, int dst_batch,
                                      int rows_per_item) {
  src += src_offset + get_global_id(2) * src_batch;
  dst += dst_offset + get_global_id(2) * dst_batch;
  const int vectors = (N + VEC - 1) / VEC;
  const int k_begin = get_global_id(1) * rows_per_item;
  const int k_end = min(k_begin + rows_per_item, K);
  const int v_end = min((int)get_global_id(0) * TILE_N + TILE_N, vectors);
  for (int v = get_global_id(0) * TILE_N; v < v_end;) {
    const int nv = tile_vectors(TILE_N, vectors - v);
    const int width = nv * VEC;
    __global float* block = dst + v * VEC * K;
    if (src_n == 1) {
      for (int k = k_begin; k < k_end; ++k) {
        for (int n = 0; n < width; n += VEC) vec_store(vec_load(src + k * src_k + v * VEC + n), block + k * width + n);
      }
    } else {
      const int count = min(width, N - v * VEC);
      for (int n = 0; n < count; ++n) {
        const __global float* column = src + (v * VEC + n) * src_n;
        for (int k = k_begin; k < k_end; ++k) block[k * width + n] = column[k * src_k];
      }
    }
    v += nv;
  }
}
