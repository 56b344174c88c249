/* SPDX-License-Identifier: Apache-2.0
 * gpu_map.cuh - every pointwise formula as device code, for the kernels of this binary and for
 * generated kernels. For each row of maps.def that has a formula for a type:
 *   T <type>_<op>(T a, T b, T c)   the operands that the op does not have are ignored
 *   int <type>_<op>(T a, T b)      if the result is a bool
 * and <to> cast_<from>_<to>(<from> x). bool is uint8_t, 0 or 1; f16 and bf16 are their bits,
 * uint16_t. Define VT_GPU_WITHOUT_FUN to leave out the functions, which makes compiling faster. */
#ifndef VT_GPU_MAP_CUH
#define VT_GPU_MAP_CUH
#include "gpu_words.cuh"
#include "vt_words_cuda.h"
#include "integer.inc"
#include "cast.inc"
#ifndef VT_GPU_WITHOUT_FUN
#include "gpu_fun.cuh"
#endif

#define VT_INLINE VT_GPU_FN
/* A row of map_float.inc can also generate code beside its formula; in this file it generates
 * nothing else. */
#define VT_MADE_no(op, n, result)
#define VT_MADE_f32(op, n, result)
#define VT_MADE_yes(op, n, result)
#define VT_MADE_fused(op, n, result)

/* ---- floating point ---- */

VT_GPU_FN uint32_t f32_bits(float x) { return __float_as_uint(x); }
VT_GPU_FN float f32_of_bits(uint32_t u) { return __uint_as_float(u); }
VT_GPU_FN uint64_t f64_bits(double x) { return (uint64_t)__double_as_longlong(x); }
VT_GPU_FN double f64_of_bits(uint64_t u) { return __longlong_as_double((long long)u); }

#define T float
#define BITS uint32_t
#define NAME(x) f32_##x
#define WIDTH 32
#define WHOLE_FROM 0x1p23f
#define LARGEST 0x1.fffffep127f
#define ROOT __fsqrt_rn
#define FMA __fmaf_rn
#include "map_float.inc"

#define T double
#define BITS uint64_t
#define NAME(x) f64_##x
#define WIDTH 64
#define WHOLE_FROM 0x1p52
#define LARGEST 0x1.fffffffffffffp1023
#define ROOT __dsqrt_rn
#define FMA __fma_rn
#include "map_float.inc"

/* ---- integers and truth values ---- */

/* Division and remainder as in integer.inc, in 32-bit arithmetic: x/0 = 0, MIN/-1 = MIN, x mod 0 =
 * x. */
VT_GPU_FN int32_t vt_gpu_div(int32_t a, int32_t b) {
  const bool special = (uint32_t)b + 1u < 2u;
  return special ? (int32_t)((uint32_t)a * (uint32_t)b) : a / (special ? 1 : b);
}
VT_GPU_FN int32_t vt_gpu_mod(int32_t a, int32_t b) {
  const bool special = (uint32_t)b + 1u < 2u;
  return special ? a & ~b : a % (special ? 1 : b);
}

#define VT_COLUMN(i, t) i
#define T int8_t
#define U uint8_t
#define DIVIDE vt_gpu_div
#define REMAINDER vt_gpu_mod
#define NAME(x) i8_##x
#include "map_int.inc"
#define T uint8_t
#define U uint8_t
#define DIVIDE vt_gpu_div
#define REMAINDER vt_gpu_mod
#define NAME(x) u8_##x
#include "map_int.inc"
#define T int32_t
#define U uint32_t
#define DIVIDE vt_gpu_div
#define REMAINDER vt_gpu_mod
#define NAME(x) i32_##x
#include "map_int.inc"
#define T int64_t
#define U uint64_t
#define DIVIDE vt_i_div
#define REMAINDER vt_i_mod
#define NAME(x) i64_##x
#include "map_int.inc"
#undef VT_COLUMN

#define VT_COLUMN(i, t) t
#define T uint8_t
#define U uint8_t
#define TRUTH
#define NAME(x) bool_##x
#include "map_int.inc"
#undef TRUTH
#undef VT_COLUMN

/* ---- casts ---- */

#include "cast_words.inc"

#define T float
#define CAST(to) cast_f32_##to
#define INTEGER(to, low, high, x) truncate_##to##_f32(x, low, high)
#include "cast_from.inc"
#undef CAST
#undef T
#define T double
#define CAST(to) cast_f64_##to
#define INTEGER(to, low, high, x) truncate_##to##_f64(x, low, high)
#include "cast_from.inc"
#undef CAST
#undef T
#define T int8_t
#define CAST(to) cast_i8_##to
#define INTEGER(to, low, high, x) (x)
#include "cast_from.inc"
#undef CAST
#undef T
#define T uint8_t
#define CAST(to) cast_u8_##to
#define INTEGER(to, low, high, x) (x)
#include "cast_from.inc"
#undef CAST
#undef T
#define T int32_t
#define CAST(to) cast_i32_##to
#define INTEGER(to, low, high, x) (x)
#include "cast_from.inc"
#undef CAST
#undef T
#define T int64_t
#define CAST(to) cast_i64_##to
#define INTEGER(to, low, high, x) (x)
#include "cast_from.inc"
#undef CAST
#undef T
#define T uint8_t
#define CAST(to) cast_bool_##to
#define INTEGER(to, low, high, x) ((x) != 0)
#include "cast_from.inc"
#undef CAST
#undef T

/* ---- casts from and to halves ---- */

/* Casts from f16 and bf16: every such number is exactly an f32, and that is cast. */
VT_GPU_FN float cast_f16_f32(uint16_t x) { return vt_load_f16(x); }
VT_GPU_FN float cast_bf16_f32(uint16_t x) { return __uint_as_float((uint32_t)x << 16); }
#define VT_GPU_FROM_HALF(T, to)                                                    \
  VT_GPU_FN T cast_f16_##to(uint16_t x) { return cast_f32_##to(cast_f16_f32(x)); } \
  VT_GPU_FN T cast_bf16_##to(uint16_t x) { return cast_f32_##to(cast_bf16_f32(x)); }
VT_GPU_FROM_HALF(double, f64)
VT_GPU_FROM_HALF(int8_t, i8)
VT_GPU_FROM_HALF(uint8_t, u8)
VT_GPU_FROM_HALF(int32_t, i32)
VT_GPU_FROM_HALF(int64_t, i64)
VT_GPU_FROM_HALF(uint8_t, bool)
#undef VT_GPU_FROM_HALF

/* Converts the bits of an f32 to f16, rounding to nearest, ties to even. For a normal result the
 * exponent bias changes and the low bits are rounded off; a carry may run into the exponent, at
 * most up to infinity. For results below 2^-14 the last place is 2^-24, which is also that of f32
 * values in [0.5, 1): adding 0.5 rounds there. */
VT_GPU_FN uint16_t f16_of_f32_bits(uint32_t u) {
  const uint32_t size = u & 0x7fffffffu, sign = u >> 16 & 0x8000u;
  const uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
  const uint32_t low = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000u;
  const uint32_t finite = size < 0x38800000u ? low : size < 0x47800000u ? normal : 0x7c00u;
  return (uint16_t)(size > 0x7f800000u ? 0x7e00u : finite | sign);
}

/* Casts to f16 and bf16. Each rounds once: only types whose numbers are exact in f32 are cast
 * through f32. */
VT_GPU_FN uint16_t cast_f64_f16(double x) { return (uint16_t)vt_store_f16(x); }
VT_GPU_FN uint16_t cast_f64_bf16(double x) { return (uint16_t)vt_store_bf16(x); }
VT_GPU_FN uint16_t cast_f32_f16(float x) { return f16_of_f32_bits(__float_as_uint(x)); }
VT_GPU_FN uint16_t cast_f32_bf16(float x) { return bf16_of_f32_bits(__float_as_uint(x)); }
VT_GPU_FN uint16_t cast_i64_f16(int64_t x) { return cast_f64_f16(vt_cross_rounding_to_odd(x)); }
VT_GPU_FN uint16_t cast_i64_bf16(int64_t x) { return cast_f64_bf16(vt_cross_rounding_to_odd(x)); }
VT_GPU_FN uint16_t cast_i32_f16(int32_t x) { return cast_f64_f16((double)x); }
VT_GPU_FN uint16_t cast_i32_bf16(int32_t x) { return cast_f64_bf16((double)x); }
#define VT_GPU_TO_HALF(T, from)                                                \
  VT_GPU_FN uint16_t cast_##from##_f16(T x) { return cast_f32_f16((float)x); } \
  VT_GPU_FN uint16_t cast_##from##_bf16(T x) { return cast_f32_bf16((float)x); }
VT_GPU_TO_HALF(int8_t, i8)
VT_GPU_TO_HALF(uint8_t, u8)
VT_GPU_TO_HALF(uint8_t, bool)
#undef VT_GPU_TO_HALF
VT_GPU_FN uint16_t cast_f16_f16(uint16_t x) { return x; }
VT_GPU_FN uint16_t cast_bf16_bf16(uint16_t x) { return x; }
VT_GPU_FN uint16_t cast_f16_bf16(uint16_t x) { return cast_f32_bf16(cast_f16_f32(x)); }
VT_GPU_FN uint16_t cast_bf16_f16(uint16_t x) { return cast_f32_f16(cast_bf16_f32(x)); }

#undef VT_MADE_fused
#undef VT_MADE_yes
#undef VT_MADE_f32
#undef VT_MADE_no
#undef VT_INLINE
#endif
