/* SPDX-License-Identifier: Apache-2.0
 * canonical.c - one pattern for the one NaN, and 0 or 1 for a truth value.
 * Applied to what enters and what leaves, never inside. Works on patterns, byte by byte, so the
 * data may lie at any alignment. */
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_num.h"

/* A format of 16, 32 or 64 bits: a NaN is a pattern that, without its sign, is above infinity. */
static void canonical_16(unsigned char *p, uint64_t n, uint16_t infinity, uint16_t nan) {
  for (uint64_t i = 0; i < n; i++, p += 2) {
    uint16_t u;
    memcpy(&u, p, sizeof u);
    if ((u & 0x7fff) > infinity) memcpy(p, &nan, sizeof nan);
  }
}

static void canonical_32(unsigned char *p, uint64_t n) {
  const uint32_t nan = 0x7fc00000u;
  for (uint64_t i = 0; i < n; i++, p += 4) {
    uint32_t u;
    memcpy(&u, p, sizeof u);
    if ((u & 0x7fffffffu) > 0x7f800000u) memcpy(p, &nan, sizeof nan);
  }
}

static void canonical_64(unsigned char *p, uint64_t n) {
  const uint64_t nan = UINT64_C(0x7ff8000000000000);
  for (uint64_t i = 0; i < n; i++, p += 8) {
    uint64_t u;
    memcpy(&u, p, sizeof u);
    if ((u & (UINT64_MAX >> 1)) > UINT64_C(0x7ff0000000000000)) memcpy(p, &nan, sizeof nan);
  }
}

static void canonical_bool(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) p[i] = p[i] != 0;
}

void vt_canonical(void *data, uint32_t dtype, uint64_t n) {
  switch (dtype) {
    case VT_DTYPE_F32:
      canonical_32(data, n);
      break;
    case VT_DTYPE_F64:
      canonical_64(data, n);
      break;
    case VT_DTYPE_F16:
      canonical_16(data, n, 0x7c00, 0x7e00);
      break;
    case VT_DTYPE_BF16:
      canonical_16(data, n, 0x7f80, 0x7fc0);
      break;
    case VT_DTYPE_BOOL:
      canonical_bool(data, n);
      break;
    default:
      break; /* integers have no second pattern for a value */
  }
}
