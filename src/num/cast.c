/* SPDX-License-Identifier: Apache-2.0
 * cast.c - conversions between the element types: one rounding, straight from the source value.
 *
 * Every value of a floating type is exactly an f64, and every value of an integer type exactly an
 * i64. A cast therefore loads a batch exactly, crosses between the two kinds where it must, and
 * stores: the only rounding is in the store, or, for an f64 result, in the crossing.
 *
 *           load                 cross                     store
 *   f*  ----------> f64 ---- truncate, saturate ----> i64 -------> integer, wrapping
 *   i*  ----------> i64 ---- round to odd (or f64) -> f64 -------> floating, nearest even */
#include <stddef.h>
#include "volta/volta_ops.h"
#include "vt_num.h"

/* ---- the 16-bit formats ---- */

/* A format with `mant` bits of fraction and the exponent bias `bias`. */
typedef struct format16 {
  int mant, bias;
  uint16_t infinity, nan;
} format16;

static const format16 F16 = {10, 15, 0x7c00, 0x7e00};
static const format16 BF16 = {7, 127, 0x7f80, 0x7fc0};

/* The last place of the result is worth 2^q, where q stops falling in the subnormals. The pattern
 * is exponent and significand added up, so a carry of the rounding runs into the exponent, and past
 * the largest finite value to infinity. */
static uint16_t narrowed(double x, const format16 *f) {
  const uint64_t u = vt_f64_bits(x);
  const uint16_t sign = (uint16_t)(u >> 48 & 0x8000);
  if (x != x) return f->nan;
  if (x - x != 0.0) return sign | f->infinity;

  const int field = (int)(u >> 52 & 0x7ff);
  const int e = (field == 0 ? 1 : field) - 1023; /* |x| = m * 2^(e - 52) */
  const uint64_t m = (u & 0xfffffffffffffu) | (uint64_t)(field != 0) << 52;
  const int lowest = 1 - f->bias, top = e > lowest ? e : lowest;
  const int drop = (top - f->mant) - (e - 52); /* q = top - mant; at least 42 */
  uint64_t r = 0;                              /* drop > 53: less than half a place */
  if (drop <= 53) {
    const uint64_t half = (uint64_t)1 << (drop - 1), rest = m & (2 * half - 1);
    r = m >> drop;
    r += rest > half || (rest == half && (r & 1) != 0);
  }
  const uint64_t pattern = ((uint64_t)(top - lowest) << f->mant) + r;
  return sign | (pattern < f->infinity ? (uint16_t)pattern : f->infinity);
}

uint16_t vt_f16_from_f64(double x) { return narrowed(x, &F16); }
uint16_t vt_bf16_from_f64(double x) { return narrowed(x, &BF16); }

float vt_f16_to_f32(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
  if (e == 31) return vt_f32_from_bits(m != 0 ? 0x7fc00000u : sign | 0x7f800000u);
  if (e != 0) return vt_f32_from_bits(sign | (e + 127 - 15) << 23 | m << 13);
  const float magnitude = (float)m * 0x1p-24f; /* 0 or a subnormal f16: exact */
  return sign != 0 ? -magnitude : magnitude;
}

/* A bf16 is the upper half of an f32. */
float vt_bf16_to_f32(uint16_t h) {
  if ((h & 0x7fff) > BF16.infinity) return vt_f32_from_bits(0x7fc00000u);
  return vt_f32_from_bits((uint32_t)h << 16);
}

/* ---- between the kinds ---- */

/* Towards zero, then the nearest end of the range lo..hi; NaN gives 0. (double)hi is exact but for
 * INT64_MAX, where it is 2^63: the first value that does not fit, which is what is asked. */
static int64_t truncated(double x, int64_t lo, int64_t hi) {
  if (x != x) return 0;
  if (x <= (double)lo) return lo;
  if (x >= (double)hi) return hi;
  return (int64_t)x;
}

/* v rounded to odd at 2^11 if it does not fit 53 bits: what is cut off leaves a mark in the last
 * bit kept. At least 42 bits remain, so that a rounding to f32 or shorter is the rounding of v. */
static double i64_to_odd(int64_t v) {
  const uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  const uint64_t cut = m >> 53 == 0 ? m : m >> 11 | ((m & 2047) != 0);
  const double magnitude = m >> 53 == 0 ? (double)cut : (double)cut * 2048.0;
  return v < 0 ? -magnitude : magnitude;
}

/* ---- batches ---- */

enum { BATCH = 256 };
typedef struct batch {
  double f[BATCH];
  int64_t i[BATCH];
} batch;

static int is_floating(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

/* Element k of the batch is element first + k of the source, `s` elements apart. */
static void load(const void *src, int64_t s, uint32_t from, int64_t first, int n, batch *b) {
  const int8_t *i8 = src;
  const uint8_t *u8 = src;
  const uint16_t *h = src;
  const int32_t *i32 = src;
  const int64_t *i64 = src;
  const float *f32 = src;
  const double *f64 = src;
  switch (from) {
    case VT_DTYPE_F32:
      for (int k = 0; k < n; k++) b->f[k] = (double)f32[(first + k) * s];
      break;
    case VT_DTYPE_F64:
      for (int k = 0; k < n; k++) b->f[k] = f64[(first + k) * s];
      break;
    case VT_DTYPE_F16:
      for (int k = 0; k < n; k++) b->f[k] = (double)vt_f16_to_f32(h[(first + k) * s]);
      break;
    case VT_DTYPE_BF16:
      for (int k = 0; k < n; k++) b->f[k] = (double)vt_bf16_to_f32(h[(first + k) * s]);
      break;
    case VT_DTYPE_I8:
      for (int k = 0; k < n; k++) b->i[k] = i8[(first + k) * s];
      break;
    case VT_DTYPE_U8:
      for (int k = 0; k < n; k++) b->i[k] = u8[(first + k) * s];
      break;
    case VT_DTYPE_I32:
      for (int k = 0; k < n; k++) b->i[k] = i32[(first + k) * s];
      break;
    case VT_DTYPE_I64:
      for (int k = 0; k < n; k++) b->i[k] = i64[(first + k) * s];
      break;
    case VT_DTYPE_BOOL:
      for (int k = 0; k < n; k++) b->i[k] = u8[(first + k) * s] != 0;
      break;
    default:
      break;
  }
}

/* The limits of an integer type, for the saturation of a floating source. */
static void range_of(uint32_t to, int64_t *lo, int64_t *hi) {
  *lo = INT64_MIN, *hi = INT64_MAX;
  if (to == VT_DTYPE_I8) *lo = INT8_MIN, *hi = INT8_MAX;
  if (to == VT_DTYPE_U8) *lo = 0, *hi = UINT8_MAX;
  if (to == VT_DTYPE_I32) *lo = INT32_MIN, *hi = INT32_MAX;
}

static void cross(uint32_t from, uint32_t to, int n, batch *b) {
  if (is_floating(from) && to == VT_DTYPE_BOOL) { /* NaN != 0 is true */
    for (int k = 0; k < n; k++) b->i[k] = b->f[k] != 0.0;
  } else if (is_floating(from) && !is_floating(to)) {
    int64_t lo, hi;
    range_of(to, &lo, &hi);
    for (int k = 0; k < n; k++) b->i[k] = truncated(b->f[k], lo, hi);
  } else if (!is_floating(from) && to == VT_DTYPE_F64) {
    for (int k = 0; k < n; k++) b->f[k] = (double)b->i[k];
  } else if (!is_floating(from) && is_floating(to)) {
    for (int k = 0; k < n; k++) b->f[k] = i64_to_odd(b->i[k]);
  }
}

static void store(void *dst, int64_t s, uint32_t to, int64_t first, int n, const batch *b) {
  int8_t *i8 = dst;
  uint8_t *u8 = dst;
  uint16_t *h = dst;
  int32_t *i32 = dst;
  int64_t *i64 = dst;
  float *f32 = dst;
  double *f64 = dst;
  const float nan32 = vt_f32_from_bits(0x7fc00000u);
  const double nan64 = vt_f64_from_bits(UINT64_C(0x7ff8000000000000));
  switch (to) {
    case VT_DTYPE_F32:
      for (int k = 0; k < n; k++)
        f32[(first + k) * s] = b->f[k] != b->f[k] ? nan32 : (float)b->f[k];
      break;
    case VT_DTYPE_F64:
      for (int k = 0; k < n; k++) f64[(first + k) * s] = b->f[k] != b->f[k] ? nan64 : b->f[k];
      break;
    case VT_DTYPE_F16:
      for (int k = 0; k < n; k++) h[(first + k) * s] = vt_f16_from_f64(b->f[k]);
      break;
    case VT_DTYPE_BF16:
      for (int k = 0; k < n; k++) h[(first + k) * s] = vt_bf16_from_f64(b->f[k]);
      break;
    case VT_DTYPE_I8:
      for (int k = 0; k < n; k++) i8[(first + k) * s] = (int8_t)b->i[k];
      break;
    case VT_DTYPE_U8:
      for (int k = 0; k < n; k++) u8[(first + k) * s] = (uint8_t)b->i[k];
      break;
    case VT_DTYPE_I32:
      for (int k = 0; k < n; k++) i32[(first + k) * s] = (int32_t)b->i[k];
      break;
    case VT_DTYPE_I64:
      for (int k = 0; k < n; k++) i64[(first + k) * s] = b->i[k];
      break;
    case VT_DTYPE_BOOL:
      for (int k = 0; k < n; k++) u8[(first + k) * s] = b->i[k] != 0;
      break;
    default:
      break;
  }
}

static int is_known(uint32_t dtype) { return dtype >= VT_DTYPE_F32 && dtype <= VT_DTYPE_BF16; }

void vt_cast(const void *src, int64_t src_stride, uint32_t from, void *dst, int64_t dst_stride,
             uint32_t to, uint64_t n) {
  if (!is_known(from) || !is_known(to)) return;
  batch b;
  for (uint64_t at = 0; at < n; at += BATCH) {
    const int here = n - at < BATCH ? (int)(n - at) : BATCH;
    load(src, src_stride, from, (int64_t)at, here, &b);
    cross(from, to, here, &b);
    store(dst, dst_stride, to, (int64_t)at, here, &b);
  }
}
