/* SPDX-License-Identifier: Apache-2.0
 * cast.c - conversions between arrays of the element types, compiled as scalar C11: the steps load,
 * cross (between f64 and i64) and store of cast.inc, each as a loop over a batch of elements. */
#include <stddef.h>
#include "volta/volta_ops.h"
#include "vt_num.h"
#include "cast.inc"

_Static_assert((int)VT_CAST_F32 == (int)VT_DTYPE_F32 && (int)VT_CAST_F64 == (int)VT_DTYPE_F64 &&
                   (int)VT_CAST_I8 == (int)VT_DTYPE_I8 && (int)VT_CAST_U8 == (int)VT_DTYPE_U8 &&
                   (int)VT_CAST_I32 == (int)VT_DTYPE_I32 && (int)VT_CAST_I64 == (int)VT_DTYPE_I64,
               "cast.inc counts the types as dtypes.def does");
_Static_assert((int)VT_CAST_BOOL == (int)VT_DTYPE_BOOL && (int)VT_CAST_F16 == (int)VT_DTYPE_F16 &&
                   (int)VT_CAST_BF16 == (int)VT_DTYPE_BF16,
               "cast.inc counts the types as dtypes.def does");

uint16_t vt_f16_from_f64(double x) { return (uint16_t)vt_store_f16(x); }
uint16_t vt_bf16_from_f64(double x) { return (uint16_t)vt_store_bf16(x); }
float vt_f16_to_f32(uint16_t h) { return vt_load_f16(h); }
float vt_bf16_to_f32(uint16_t h) { return vt_load_bf16(h); }

/* ---- batches ---- */

enum { BATCH = 256 };
typedef struct batch {
  double f[BATCH];  /* the elements that are floating, before or after crossing */
  int64_t i[BATCH]; /* the elements that are integers, before or after crossing */
} batch;

/* Loads element first + k of the source, which has stride `s`, as element k of the batch: floating
 * types into b->f, integers into b->i. */
static void load_batch(const void *src, int64_t stride, uint32_t from, int64_t first, int n,
                       batch *b) {
  const int8_t *i8 = src;
  const uint8_t *u8 = src;
  const uint16_t *h = src;
  const int32_t *i32 = src;
  const int64_t *i64 = src;
  const float *f32 = src;
  const double *f64 = src;
  switch (from) {
    case VT_DTYPE_F32:
      for (int k = 0; k < n; k++) b->f[k] = (double)f32[(first + k) * stride];
      break;
    case VT_DTYPE_F64:
      for (int k = 0; k < n; k++) b->f[k] = f64[(first + k) * stride];
      break;
    case VT_DTYPE_F16:
      for (int k = 0; k < n; k++) b->f[k] = vt_s_widen(vt_load_f16(h[(first + k) * stride]));
      break;
    case VT_DTYPE_BF16:
      for (int k = 0; k < n; k++) b->f[k] = vt_s_widen(vt_load_bf16(h[(first + k) * stride]));
      break;
    case VT_DTYPE_I8:
      for (int k = 0; k < n; k++) b->i[k] = i8[(first + k) * stride];
      break;
    case VT_DTYPE_U8:
      for (int k = 0; k < n; k++) b->i[k] = u8[(first + k) * stride];
      break;
    case VT_DTYPE_I32:
      for (int k = 0; k < n; k++) b->i[k] = i32[(first + k) * stride];
      break;
    case VT_DTYPE_I64:
      for (int k = 0; k < n; k++) b->i[k] = i64[(first + k) * stride];
      break;
    case VT_DTYPE_BOOL:
      for (int k = 0; k < n; k++) b->i[k] = vt_load_bool(u8[(first + k) * stride]);
      break;
    default:
      break;
  }
}

/* Crosses from floating to integer; the switch is outside the loops. */
static void cross_batch_to_int(uint32_t to, int n, batch *b) {
  switch (to) {
    case VT_DTYPE_I8:
      for (int k = 0; k < n; k++) b->i[k] = vt_cast_cross_int(b->f[k], VT_CAST_I8);
      break;
    case VT_DTYPE_U8:
      for (int k = 0; k < n; k++) b->i[k] = vt_cast_cross_int(b->f[k], VT_CAST_U8);
      break;
    case VT_DTYPE_I32:
      for (int k = 0; k < n; k++) b->i[k] = vt_cast_cross_int(b->f[k], VT_CAST_I32);
      break;
    case VT_DTYPE_BOOL:
      for (int k = 0; k < n; k++) b->i[k] = vt_cast_cross_int(b->f[k], VT_CAST_BOOL);
      break;
    default:
      for (int k = 0; k < n; k++) b->i[k] = vt_cast_cross_int(b->f[k], VT_CAST_I64);
      break;
  }
}

static void cross_batch(uint32_t from, uint32_t to, int n, batch *b) {
  if (vt_cast_is_floating(from) == vt_cast_is_floating(to)) return;
  if (vt_cast_is_floating(from))
    cross_batch_to_int(to, n, b);
  else if (to == VT_DTYPE_F64)
    for (int k = 0; k < n; k++) b->f[k] = vt_of_int(b->i[k]);
  else
    for (int k = 0; k < n; k++) b->f[k] = vt_cross_rounding_to_odd(b->i[k]);
}

static void store_batch(void *dst, int64_t stride, uint32_t to, int64_t first, int n,
                        const batch *b) {
  int8_t *i8 = dst;
  uint8_t *u8 = dst;
  uint16_t *h = dst;
  int32_t *i32 = dst;
  int64_t *i64 = dst;
  float *f32 = dst;
  double *f64 = dst;
  switch (to) {
    case VT_DTYPE_F32:
      for (int k = 0; k < n; k++) f32[(first + k) * stride] = vt_store_f32(b->f[k]);
      break;
    case VT_DTYPE_F64:
      for (int k = 0; k < n; k++) f64[(first + k) * stride] = vt_store_f64(b->f[k]);
      break;
    case VT_DTYPE_F16:
      for (int k = 0; k < n; k++) h[(first + k) * stride] = (uint16_t)vt_store_f16(b->f[k]);
      break;
    case VT_DTYPE_BF16:
      for (int k = 0; k < n; k++) h[(first + k) * stride] = (uint16_t)vt_store_bf16(b->f[k]);
      break;
    case VT_DTYPE_I8:
      for (int k = 0; k < n; k++) i8[(first + k) * stride] = (int8_t)vt_store_8(b->i[k]);
      break;
    case VT_DTYPE_U8:
      for (int k = 0; k < n; k++) u8[(first + k) * stride] = (uint8_t)vt_store_8(b->i[k]);
      break;
    case VT_DTYPE_I32:
      for (int k = 0; k < n; k++) i32[(first + k) * stride] = (int32_t)vt_store_32(b->i[k]);
      break;
    case VT_DTYPE_I64:
      for (int k = 0; k < n; k++) i64[(first + k) * stride] = b->i[k];
      break;
    case VT_DTYPE_BOOL:
      for (int k = 0; k < n; k++) u8[(first + k) * stride] = (uint8_t)vt_store_bool(b->i[k]);
      break;
    default:
      break;
  }
}

static int is_known_type(uint32_t dtype) { return dtype >= VT_DTYPE_F32 && dtype <= VT_DTYPE_BF16; }

void vt_cast(const void *src, int64_t src_stride, uint32_t from, void *dst, int64_t dst_stride,
             uint32_t to, uint64_t n) {
  if (!is_known_type(from) || !is_known_type(to)) return;
  batch b;
  for (uint64_t at = 0; at < n; at += BATCH) {
    const int count = n - at < BATCH ? (int)(n - at) : BATCH;
    load_batch(src, src_stride, from, (int64_t)at, count, &b);
    cross_batch(from, to, count, &b);
    store_batch(dst, dst_stride, to, (int64_t)at, count, &b);
  }
}
