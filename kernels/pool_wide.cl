// SPDX-License-Identifier: Apache-2.0
// Maximum and average over windows, in up to three dimensions, vectors along channels.
//
// dst[n, od, oh, ow, c] = max or sum / divisor of src[n, d, h, w, c] over d = start + i * dilation, i < count, with
// start and count from the table of the axis, h and w likewise; the divisor is the product of the three.
// src, dst f32, channels-last with free strides of batch, depth, row and pixel; channel stride 1.
// Arguments: src read, dst written, table read (start, count, divisor for each od, then each oh, then each ow), then
// int: src_offset, dst_offset, c (channels), c_block (channels of one work-item), od, oh, ow (output sizes), dilation
// d, h, w, strides of src n, d, h, w, strides of dst n, d, h, w. pool_wide_index_*: dst holds indices, and five more
// int: what a step along n, c, d, h, w adds to an index.
// Macros: VEC lanes of a vector: 16 (default), 8, 4; FORM 0 (default) maximum, 1 average, 2 index of the maximum:
// programs of their own, since a network seldom needs all. Launch: global (ceil(c / c_block), oh, n * od), local (1, 1,
// 1); a work-item makes one output row. Limits: indices fit int; reads up to VEC - 1 elements past the end of src
// (never used). Numerics: maxima keep NaN and the first of equal values; a window with count 0 gives -FLT_MAX, index 0,
// average 0. Sums in float: along a row first, then over rows. Source: own.
#include "common/vector.clh"
#include "common/wide.clh"

#ifndef FORM
#define FORM 0
#endif

#define SIZES(I) I(c) I(c_block) I(od) I(oh) I(ow) I(dilation_d) I(dilation_h) I(dilation_w)
#define STRIDES(I, p) I(p##_n) I(p##_d) I(p##_h) I(p##_w)
#define STEPS(I) I(step_n) I(step_c) I(step_d) I(step_h) I(step_w)
#define SCALARS(I, F) I(src_offset) I(dst_offset) SIZES(I) STRIDES(I, src) STRIDES(I, dst) STEPS(I)
DEFINE_SCALARS

#define PARAMS(T) __global const float *restrict src, __global T *restrict dst, __global const int *restrict table, ARGS

// Declares the work-item's output row, its channels [c0, c1) and its windows along D and H.
#define ROW(T)                                                                                              \
  const int c0 = ITEM(0) * c_block;                                                                         \
  const int c1 = min(c, c0 + c_block);                                                                      \
  const int y = ITEM(1);                                                                                    \
  const int z = ITEM(2) % od;                                                                               \
  const int n = ITEM(2) / od;                                                                               \
  __global const int* window_d = table + 3 * z;                                                             \
  __global const int* window_h = table + 3 * (od + y);                                                      \
  const int count_d = window_d[1];                                                                          \
  const int count_h = window_h[1];                                                                          \
  __global const float* plane = src + (src_offset + n * src_n + window_d[0] * src_d + window_h[0] * src_h); \
  __global T* row = dst + (dst_offset + n * dst_n + z * dst_d + y * dst_h);

// Declares the window along W of output x.
#define WINDOW                                              \
  __global const int* window_w = table + 3 * (od + oh + x); \
  const int count_w = window_w[1];                          \
  __global const float* corner = plane + window_w[0] * src_w;

#if FORM == 0

WIDE_KERNEL void pool_wide_max_f32(PARAMS(float)) {
  UNPACK_SCALARS
  EACH_ITEM {
    ROW(float)
    for (int x = 0; x < ow; ++x) {
      WINDOW
      const bool is_empty = count_d == 0 || count_h == 0 || count_w == 0;
      for (int ch = c0; ch < c1; ch += VEC) {
        vec best = is_empty ? (vec)(-FLT_MAX) : vec_load(corner + ch);
        for (int i = 0; i < count_d; ++i) {
          for (int j = 0; j < count_h; ++j) {
            __global const float* s = corner + (i * dilation_d * src_d + j * dilation_h * src_h + ch);
            for (int k = 0; k < count_w; ++k) {
              const vec value = vec_load(s + k * dilation_w * src_w);
              // Not fmax: it would lose NaN.
              best = vec_select((value > best) | (value != value), value, best);
            }
          }
        }
        vec_store_lanes(best, row + x * dst_w + ch, c1 - ch);
      }
    }
  }
}

#elif FORM == 1

WIDE_KERNEL void pool_wide_avg_f32(PARAMS(float)) {
  UNPACK_SCALARS
  EACH_ITEM {
    ROW(float)
    for (int x = 0; x < ow; ++x) {
      WINDOW
      const float divisor = (float)window_d[2] * (float)window_h[2] * (float)window_w[2];
      for (int ch = c0; ch < c1; ch += VEC) {
        vec sum = (vec)(0.0f);
        for (int i = 0; i < count_d; ++i) {
          for (int j = 0; j < count_h; ++j) {
            __global const float* s = corner + (i * dilation_d * src_d + j * dilation_h * src_h + ch);
            vec line = (vec)(0.0f);
            for (int k = 0; k < count_w; ++k) line += vec_load(s + k * dilation_w * src_w);
            sum += line;
          }
        }
        const vec mean = sum / divisor;
        vec_store_lanes(mean, row + x * dst_w + ch, c1 - ch);
      }
    }
  }
}

#else

#define INDEX_KERNEL(NAME, T)                                                                               \
  WIDE_KERNEL void NAME(PARAMS(T)) {                                                                        \
    UNPACK_SCALARS                                                                                          \
    EACH_ITEM {                                                                                             \
      ROW(T)                                                                                                \
      for (int x = 0; x < ow; ++x) {                                                                        \
        WINDOW                                                                                              \
        const int origin = n * step_n + window_d[0] * step_d + window_h[0] * step_h + window_w[0] * step_w; \
        for (int ch = c0; ch < c1; ++ch) {                                                                  \
          float best = 0.0f;                                                                                \
          int place = -1;                                                                                   \
          for (int i = 0; i < count_d; ++i) {                                                               \
            for (int j = 0; j < count_h; ++j) {                                                             \
              for (int k = 0; k < count_w; ++k) {                                                           \
                const int di = i * dilation_d, dj = j * dilation_h, dk = k * dilation_w;                    \
                const float value = corner[di * src_d + dj * src_h + dk * src_w + ch];                      \
                if (place < 0 || value > best || (value != value && best == best)) {                        \
                  best = value;                                                                             \
                  place = origin + ch * step_c + di * step_d + dj * step_h + dk * step_w;                   \
                }                                                                                           \
              }                                                                                             \
            }                                                                                               \
          }                                                                                                 \
          row[x * dst_w + ch] = (T)max(place, 0);                                                           \
        }                                                                                                   \
      }                                                                                                     \
    }                                                                                                       \
  }

INDEX_KERNEL(pool_wide_index_i32, int)
INDEX_KERNEL(pool_wide_index_i64, long)

#endif
