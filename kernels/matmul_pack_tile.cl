// SPDX-License-Identifier: Apache-2.0
// Packs the right operand of a matrix product that is not constant into the order that conv_tile.cl reads.
//
// formula  dst[block][k][j] = src[k, block * BLOCK + j], zero past N; M N K as in C[M,N] = A[M,K] * B[K,N]
// layout   src f32, strides in elements between k, n and batches. dst f32 [ceil(N / BLOCK)][K][BLOCK] per batch
// args     0 src r, 1 dst w, 2 src_offset and 3 dst_offset in elements, 4 K, 5 N, 6.. strides, 10 BLOCK
// macros   none
// launch   global (ceil(N / BLOCK) * BLOCK, K, batches), local (any divisor of BLOCK, 1, 1)
// limits   none
// numerics copies
// source   own
__kernel void matmul_pack_tile_f32(__global const float* restrict src, __global float* restrict dst, int src_offset,
                                   int dst_offset, int K, int N, int src_k, int src_n, int src_batch, int dst_batch,
                                   int BLOCK) {
  const int n = get_global_id(0);
  const int k = get_global_id(1);
  const int batch = get_global_id(2);
  const int at = dst_offset + batch * dst_batch + n / BLOCK * BLOCK * K + k * BLOCK + n % BLOCK;
  dst[at] = n < N ? src[src_offset + batch * src_batch + k * src_k + n * src_n] : 0.0f;
}
