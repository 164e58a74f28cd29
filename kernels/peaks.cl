// SPDX-License-Identifier: Apache-2.0
// What a device can do at most, as far as OpenCL kernels reach it.
//
// fma_peak_f32:  dst[i] = sum over a of x_a after `rounds` times x_a = x_a * scale + 1, for work-item i
//                2 * ACC * VEC * rounds operations each
// copy_peak_f32: dst[v] = src[v] for the vectors v = i * first + r * step, r in [0, rounds), of work-item i, `repeats`
//                times over
//
// macros: VEC   lanes of a vector, 16, 8, 4 (default)
//         ACC   independent chains of multiply-adds; 12 (default) hide a latency of 4 on 2 units of a CPU
// launch: CPUs one work-item per work-group; GPUs any
#ifndef VEC
#define VEC 4
#endif
#ifndef ACC
#define ACC 12
#endif

#if VEC == 16
typedef float16 vec;
#elif VEC == 8
typedef float8 vec;
#else
typedef float4 vec;
#endif

__kernel void fma_peak_f32(__global vec* dst, int rounds, float scale) {
  vec acc[ACC];
  const int i = (int)get_global_id(0);
  _Pragma("unroll") for (int a = 0; a < ACC; ++a) acc[a] = (vec)((float)(i + a));
  for (int r = 0; r < rounds; ++r) {
    _Pragma("unroll") for (int a = 0; a < ACC; ++a) acc[a] = fma(acc[a], (vec)(scale), (vec)(1.0f));
  }
  vec sum = (vec)(0.0f);
  _Pragma("unroll") for (int a = 0; a < ACC; ++a) sum += acc[a];
  dst[i] = sum;
}

__kernel void copy_peak_f32(__global const vec* restrict src, __global vec* restrict dst, int first, int step,
                            int rounds, int repeats) {
  const int begin = (int)get_global_id(0) * first;
  for (int p = 0; p < repeats; ++p) {
    for (int r = 0; r < rounds; ++r) dst[begin + r * step] = src[begin + r * step];
  }
}
