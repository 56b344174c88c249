/* SPDX-License-Identifier: Apache-2.0
 * canonical.c - the functions of canonical.inc, compiled as scalar C11 and applied to arrays. It
 * copies each element by memcpy, so that data may have any alignment, and writes only elements that
 * change. NaN is rare, so most of the time goes into checking that a block of 64 elements contains
 * no NaN. */
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_num.h"
#include "canonical.inc"

enum { BLOCK = 64 };

/* Returns whether a block contains a NaN. The test subtracts each pattern from that of infinity and
 * uses the sign, because that takes fewer vector instructions than a comparison. */
static uint32_t block_has_nan_f32(const unsigned char *p) {
  uint32_t any = 0;
  for (int i = 0; i < BLOCK; i++) {
    uint32_t u;
    memcpy(&u, p + 4 * i, sizeof u);
    any |= VT_INF_F32 - (u & (UINT32_MAX >> 1));
  }
  return any >> 31;
}

static uint64_t block_has_nan_f64(const unsigned char *p) {
  uint64_t any = 0;
  for (int i = 0; i < BLOCK; i++) {
    uint64_t u;
    memcpy(&u, p + 8 * i, sizeof u);
    any |= VT_INF_F64 - (u & (UINT64_MAX >> 1));
  }
  return any >> 63;
}

static void canonicalize_each_f32(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++, p += 4) {
    uint32_t u;
    memcpy(&u, p, sizeof u);
    const uint32_t v = vt_canonical_f32(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void canonicalize_each_f64(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++, p += 8) {
    uint64_t u;
    memcpy(&u, p, sizeof u);
    const uint64_t v = vt_canonical_f64(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void canonicalize_f32(unsigned char *p, uint64_t n) {
  for (; n >= BLOCK; n -= BLOCK, p += 4 * BLOCK)
    if (block_has_nan_f32(p)) canonicalize_each_f32(p, BLOCK);
  canonicalize_each_f32(p, n);
}

static void canonicalize_f64(unsigned char *p, uint64_t n) {
  for (; n >= BLOCK; n -= BLOCK, p += 8 * BLOCK)
    if (block_has_nan_f64(p)) canonicalize_each_f64(p, BLOCK);
  canonicalize_each_f64(p, n);
}

static void canonicalize_16(unsigned char *p, uint64_t n, uint32_t (*canonical)(uint32_t u)) {
  for (uint64_t i = 0; i < n; i++, p += 2) {
    uint16_t u;
    memcpy(&u, p, sizeof u);
    const uint16_t v = (uint16_t)canonical(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void canonicalize_bool(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) p[i] = (unsigned char)vt_canonical_bool(p[i]);
}

void vt_canonical(void *data, uint32_t dtype, uint64_t n) {
  switch (dtype) {
    case VT_DTYPE_F32:
      canonicalize_f32(data, n);
      break;
    case VT_DTYPE_F64:
      canonicalize_f64(data, n);
      break;
    case VT_DTYPE_F16:
      canonicalize_16(data, n, vt_canonical_f16);
      break;
    case VT_DTYPE_BF16:
      canonicalize_16(data, n, vt_canonical_bf16);
      break;
    case VT_DTYPE_BOOL:
      canonicalize_bool(data, n);
      break;
    default:
      break; /* integers: every pattern is canonical */
  }
}

/* ---- checking without changing ---- */

static int is_float_block_without_nan(const unsigned char *p, uint32_t dtype) {
  if (dtype == VT_DTYPE_F32) return !block_has_nan_f32(p);
  return dtype == VT_DTYPE_F64 && !block_has_nan_f64(p);
}

/* Returns whether n elements, at most a block, are canonical, by making a copy canonical and
 * comparing. */
static int are_elements_canonical(const unsigned char *p, uint32_t dtype, uint64_t n,
                                  uint64_t element_bytes) {
  unsigned char copy[8 * BLOCK];
  memcpy(copy, p, n * element_bytes);
  vt_canonical(copy, dtype, n);
  return memcmp(copy, p, n * element_bytes) == 0;
}

/* Bytes of an element; 0 for types of which every pattern is canonical. */
static uint64_t element_bytes_or_0(uint32_t dtype) {
  if (dtype == VT_DTYPE_F64) return 8;
  if (dtype == VT_DTYPE_F32) return 4;
  if (dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16) return 2;
  return dtype == VT_DTYPE_BOOL;
}

int vt_is_canonical(const void *data, uint32_t dtype, uint64_t n) {
  const unsigned char *p = data;
  const uint64_t bytes = element_bytes_or_0(dtype);
  if (bytes == 0) return 1;
  for (; n >= BLOCK; n -= BLOCK, p += BLOCK * bytes)
    if (!is_float_block_without_nan(p, dtype) && !are_elements_canonical(p, dtype, BLOCK, bytes))
      return 0;
  return n == 0 || are_elements_canonical(p, dtype, n, bytes);
}
