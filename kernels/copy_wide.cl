// SPDX-License-Identifier: Apache-2.0
// Strided copies: layout conversions, slices, transpositions, repeats.
//
// dst[dst_offset + sum(i[k] * dst_k)] = src[src_offset + sum(i[k] * src_k)] over four outer dimensions 0..3, rows m and
// elements n of a row. Elements are moved as bits: any type of ELEM bytes.
// Arguments, both kernels: src read, dst written, then int: src_offset, dst_offset, m and n (sizes), m_block and
// n_block (sizes that one work-item moves), src_m, dst_m, src_n, dst_n (strides), size1..size3, src0..src3, dst0..dst3.
// Macros: ELEM element size in bytes: 1, 2, 4 (default) or 8.
// Launch: global (ceil(m / m_block), size0 * size1 * size2 * size3, ceil(n / n_block)), local (1, 1, 1).
// Limits: src and dst areas do not overlap; indices fit int; copy_wide_tiles_* need src_m = 1 and dst_n = 1, and read
// up to 15 elements past the end of a row (never used).
// Numerics: none. Source: own; the tile is turned by four perfect shuffles of 16 vectors.
#include "common/element.clh"
#include "common/wide.clh"

#define MATRIX(I) I(m) I(n) I(m_block) I(n_block) I(src_m) I(dst_m) I(src_n) I(dst_n)
#define OUTER(I, p) I(p##1) I(p##2) I(p##3)
#define SCALARS(I, F) I(src_offset) I(dst_offset) MATRIX(I) OUTER(I, size) I(src0) OUTER(I, src) I(dst0) OUTER(I, dst)
DEFINE_SCALARS

#define PARAMS __global const T *restrict src, __global T *restrict dst, ARGS

// Declares the work-item's block [m0, m1) x [n0, n1) and moves src and dst to its outer index.
#define BLOCK                                                                                  \
  const int m0 = ITEM(0) * m_block;                                                            \
  const int m1 = min(m, m0 + m_block);                                                         \
  const int n0 = ITEM(2) * n_block;                                                            \
  const int n1 = min(n, n0 + n_block);                                                         \
  int rest = ITEM(1);                                                                          \
  const int i3 = rest % size3;                                                                 \
  rest /= size3;                                                                               \
  const int i2 = rest % size2;                                                                 \
  rest /= size2;                                                                               \
  const int i1 = rest % size1;                                                                 \
  const int i0 = rest / size1;                                                                 \
  __global const T* from = src + (src_offset + i0 * src0 + i1 * src1 + i2 * src2 + i3 * src3); \
  __global T* to = dst + (dst_offset + i0 * dst0 + i1 * dst1 + i2 * dst2 + i3 * dst3);

WIDE_KERNEL void CAT(copy_wide_rows_b, ELEM)(PARAMS) {
  UNPACK_SCALARS
  EACH_ITEM {
    BLOCK
    for (int row = m0; row < m1; ++row) {
      __global const T* s = from + row * src_m + n0 * src_n;
      __global T* d = to + row * dst_m + n0 * dst_n;
      const int count = n1 - n0;
      int i = 0;
      if (src_n == 1 && dst_n == 1) {
        for (; i + 16 <= count; i += 16) store16(load16(s + i), d + i);
        for (; i < count; ++i) d[i] = s[i];
      } else if (src_n == 0 && dst_n == 1) {
        const T value = s[0];
        for (; i + 16 <= count; i += 16) store16((T16)(value), d + i);
        for (; i < count; ++i) d[i] = value;
      } else {
        for (; i < count; ++i) d[i * dst_n] = s[i * src_n];
      }
    }
  }
}

#define LOW(x, y) (T16)(x.s0, y.s0, x.s1, y.s1, x.s2, y.s2, x.s3, y.s3, x.s4, y.s4, x.s5, y.s5, x.s6, y.s6, x.s7, y.s7)
#define HIGH(x, y) (T16)(x.s8, y.s8, x.s9, y.s9, x.sa, y.sa, x.sb, y.sb, x.sc, y.sc, x.sd, y.sd, x.se, y.se, x.sf, y.sf)

// Rotates the eight bits (row, lane) of every element's place by one: four times turn the tile.
#define SHUFFLE(a, b)                                                                                               \
  const T16 b##0 = LOW(a##0, a##8), b##1 = HIGH(a##0, a##8), b##2 = LOW(a##1, a##9), b##3 = HIGH(a##1, a##9),       \
            b##4 = LOW(a##2, a##10), b##5 = HIGH(a##2, a##10), b##6 = LOW(a##3, a##11), b##7 = HIGH(a##3, a##11),   \
            b##8 = LOW(a##4, a##12), b##9 = HIGH(a##4, a##12), b##10 = LOW(a##5, a##13), b##11 = HIGH(a##5, a##13), \
            b##12 = LOW(a##6, a##14), b##13 = HIGH(a##6, a##14), b##14 = LOW(a##7, a##15), b##15 = HIGH(a##7, a##15)

// Stores the first count < 16 elements.
OUTLINED void store_first(T16 value, const int count, __global T* d) {
  if (count & 8) {
    vstore8(value.lo, 0, d);
    d += 8;
    value.lo = value.hi;
  }
  if (count & 4) {
    vstore4(value.lo.lo, 0, d);
    d += 4;
    value.lo.lo = value.lo.hi;
  }
  if (count & 2) {
    vstore2(value.s01, 0, d);
    d += 2;
    value.s0 = value.s2;
  }
  if (count & 1) d[0] = value.s0;
}

#define LOAD(k) const T16 a##k = load16(s + min(k, lines - 1) * src_n)
#define STORE(k)                               \
  if (k < rows) {                              \
    if (lines == 16) {                         \
      store16(e##k, d + (k)*dst_m);            \
    } else {                                   \
      store_first(e##k, lines, d + (k)*dst_m); \
    }                                          \
  }

// dst[r * dst_m + l] = src[l * src_n + r] for r < rows <= 16, l < lines <= 16.
OUTLINED void turn_tile(__global const T* s, __global T* d, const int src_n, const int dst_m, const int rows,
                        const int lines) {
  LOAD(0);
  LOAD(1);
  LOAD(2);
  LOAD(3);
  LOAD(4);
  LOAD(5);
  LOAD(6);
  LOAD(7);
  LOAD(8);
  LOAD(9);
  LOAD(10);
  LOAD(11);
  LOAD(12);
  LOAD(13);
  LOAD(14);
  LOAD(15);
  SHUFFLE(a, b);
  SHUFFLE(b, c);
  SHUFFLE(c, t);
  SHUFFLE(t, e);
  STORE(0);
  STORE(1);
  STORE(2);
  STORE(3);
  STORE(4);
  STORE(5);
  STORE(6);
  STORE(7);
  STORE(8);
  STORE(9);
  STORE(10);
  STORE(11);
  STORE(12);
  STORE(13);
  STORE(14);
  STORE(15);
}

static void store_first4(T4 value, const int count, __global T* d) {
  if (count == 4) {
    vstore4(value, 0, d);
  } else {
    d[0] = value.s0;
    if (count > 1) d[1] = value.s1;
    if (count > 2) d[2] = value.s2;
  }
}

#define STORE4(k, part) \
  if (k < rows) store_first4(part, lines, d + (k)*dst_m)

// The same for lines <= 4: pictures with few channels.
OUTLINED void turn_narrow_tile(__global const T* s, __global T* d, const int src_n, const int dst_m, const int rows,
                               const int lines) {
  LOAD(0);
  LOAD(1);
  LOAD(2);
  LOAD(3);
  const T16 b0 = LOW(a0, a2), b1 = HIGH(a0, a2), b2 = LOW(a1, a3), b3 = HIGH(a1, a3);
  const T16 c0 = LOW(b0, b2), c1 = HIGH(b0, b2), c2 = LOW(b1, b3), c3 = HIGH(b1, b3);
  STORE4(0, c0.s0123);
  STORE4(1, c0.s4567);
  STORE4(2, c0.s89ab);
  STORE4(3, c0.scdef);
  STORE4(4, c1.s0123);
  STORE4(5, c1.s4567);
  STORE4(6, c1.s89ab);
  STORE4(7, c1.scdef);
  STORE4(8, c2.s0123);
  STORE4(9, c2.s4567);
  STORE4(10, c2.s89ab);
  STORE4(11, c2.scdef);
  STORE4(12, c3.s0123);
  STORE4(13, c3.s4567);
  STORE4(14, c3.s89ab);
  STORE4(15, c3.scdef);
}

// 16 dense pixels of three channels: the input picture of most networks.
OUTLINED void turn_rgb_tile(__global const T* s, __global T* d, const int src_n) {
  const T16 a0 = load16(s), a1 = load16(s + src_n), a2 = load16(s + 2 * src_n);
  store16((T16)(a0.s0, a1.s0, a2.s0, a0.s1, a1.s1, a2.s1, a0.s2, a1.s2, a2.s2, a0.s3, a1.s3, a2.s3, a0.s4, a1.s4, a2.s4,
                a0.s5),
          d);
  store16((T16)(a1.s5, a2.s5, a0.s6, a1.s6, a2.s6, a0.s7, a1.s7, a2.s7, a0.s8, a1.s8, a2.s8, a0.s9, a1.s9, a2.s9, a0.sa,
                a1.sa),
          d + 16);
  store16((T16)(a2.sa, a0.sb, a1.sb, a2.sb, a0.sc, a1.sc, a2.sc, a0.sd, a1.sd, a2.sd, a0.se, a1.se, a2.se, a0.sf, a1.sf,
                a2.sf),
          d + 32);
}

WIDE_KERNEL void CAT(copy_wide_tiles_b, ELEM)(PARAMS) {
  UNPACK_SCALARS
  EACH_ITEM {
    BLOCK
    for (int row = m0; row < m1; row += 16) {
      for (int col = n0; col < n1; col += 16) {
        __global const T* s = from + row * src_m + col * src_n;
        __global T* d = to + row * dst_m + col * dst_n;
        const int rows = min(16, m1 - row);
        const int lines = min(16, n1 - col);
        if (lines == 3 && dst_m == 3 && rows == 16) {
          turn_rgb_tile(s, d, src_n);
        } else if (lines <= 4) {
          turn_narrow_tile(s, d, src_n, dst_m, rows, lines);
        } else {
          turn_tile(s, d, src_n, dst_m, rows, lines);
        }
      }
    }
  }
}
