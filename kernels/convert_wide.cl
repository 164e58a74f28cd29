// SPDX-License-Identifier: Apache-2.0
// dst[i] = (TO)src[i] over two strided tensors of one shape.
//
// Arguments: dst (TO) written, src (FROM) read, int sizes and places as in common/walk.clh for dst and src.
// Macros: FROM and TO: t_f32 (default), t_f16, t_i8, t_u8, t_i32, t_i64 or t_bool (stored as 0 and 1).
// Launch: see common/walk.clh. Limits: indices fit int.
// Numerics: float to integer truncates and saturates, NaN becomes 0; integers wrap; to f16 rounds to nearest even;
//   f16 needs vload_half only. Source: own.
#include "common/walk.clh"

#define t_f32 1
#define t_f16 2
#define t_i8 3
#define t_u8 4
#define t_i32 5
#define t_i64 6
#define t_bool 7

#ifndef FROM
#define FROM t_f32
#endif
#ifndef TO
#define TO t_f32
#endif

#define IS_FLOAT(type) ((type) == t_f32 || (type) == t_f16)

#if FROM == t_f16
typedef half src_elem;
#define LOAD(p) vload_half(0, (p))
#elif FROM == t_f32
typedef float src_elem;
#define LOAD(p) (*(p))
#elif FROM == t_i8
typedef char src_elem;
#define LOAD(p) ((long)*(p))
#elif FROM == t_u8
typedef uchar src_elem;
#define LOAD(p) ((long)*(p))
#elif FROM == t_i32
typedef int src_elem;
#define LOAD(p) ((long)*(p))
#elif FROM == t_i64
typedef long src_elem;
#define LOAD(p) (*(p))
#else
typedef uchar src_elem;
#define LOAD(p) ((long)(*(p) != 0))
#endif

#if TO == t_f16
typedef half dst_elem;
#define STORE(v, p) vstore_half_rte((float)(v), 0, (p))
#elif TO == t_f32
typedef float dst_elem;
#define STORE(v, p) (*(p) = (float)(v))
#elif TO == t_bool
typedef uchar dst_elem;
#define STORE(v, p) (*(p) = (v) != 0 ? 1 : 0)
#else
#if TO == t_i8
typedef char dst_elem;
#define SATURATED(v) convert_char_sat(v)
#elif TO == t_u8
typedef uchar dst_elem;
#define SATURATED(v) convert_uchar_sat(v)
#elif TO == t_i32
typedef int dst_elem;
#define SATURATED(v) convert_int_sat(v)
#else
typedef long dst_elem;
#define SATURATED(v) convert_long_sat(v)
#endif
#if IS_FLOAT(FROM)
#define STORE(v, p) (*(p) = (v) != (v) ? (dst_elem)0 : SATURATED(v))
#else
#define STORE(v, p) (*(p) = (dst_elem)(v))
#endif
#endif

#define SCALARS(I, F) WALK_SIZES(I) WALK_PLACE(I, dst) WALK_PLACE(I, src)
DEFINE_SCALARS

VECTOR_KERNEL void convert_wide(__global dst_elem* dst, __global const src_elem* src, ARGS) {
  UNPACK_SCALARS
  WALK_BEGIN
  __global const src_elem* from = src + WALK_AT(src);
  __global dst_elem* to = dst + WALK_AT(dst);
  if (src_n == 1 && dst_n == 1) {
    for (int i = 0; i < count; ++i) STORE(LOAD(from + i), to + i);
  } else {
    for (int i = 0; i < count; ++i) STORE(LOAD(from + i * src_n), to + i * dst_n);
  }
  WALK_END
}
