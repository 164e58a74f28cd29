// SPDX-License-Identifier: Apache-2.0
// dst[i] = 2 * src[i] + i for i in [0, count): the known answer that `headrace program` asks a device for.
//
// Arguments: 0 src (float) read, 1 dst (float) written, 2 int count.
// Macros: none. Launch: global 1x1x1, local 1x1x1; one work-item computes everything.
// Limits: src and dst do not overlap. Numerics: exact for small integers. Source: own.
__kernel void self_test_f32(__global const float* restrict src, __global float* restrict dst, int count) {
  for (int i = 0; i < count; ++i) dst[i] = 2.0f * src[i] + (float)i;
}
