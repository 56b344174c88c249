/* SPDX-License-Identifier: Apache-2.0
 * canonical.c - canonical.inc over arrays, for one lane of C11. Byte by byte, so the data may lie
 * at any alignment; only what changes is written. */
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_num.h"
#include "canonical.inc"

static void each_f32(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++, p += 4) {
    uint32_t u;
    memcpy(&u, p, sizeof u);
    const uint32_t v = vt_canonical_f32(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void each_f64(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++, p += 8) {
    uint64_t u;
    memcpy(&u, p, sizeof u);
    const uint64_t v = vt_canonical_f64(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void each_16(unsigned char *p, uint64_t n, uint32_t (*canonical)(uint32_t u)) {
  for (uint64_t i = 0; i < n; i++, p += 2) {
    uint16_t u;
    memcpy(&u, p, sizeof u);
    const uint16_t v = (uint16_t)canonical(u);
    if (v != u) memcpy(p, &v, sizeof v);
  }
}

static void each_bool(unsigned char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) p[i] = (unsigned char)vt_canonical_bool(p[i]);
}

void vt_canonical(void *data, uint32_t dtype, uint64_t n) {
  switch (dtype) {
    case VT_DTYPE_F32:
      each_f32(data, n);
      break;
    case VT_DTYPE_F64:
      each_f64(data, n);
      break;
    case VT_DTYPE_F16:
      each_16(data, n, vt_canonical_f16);
      break;
    case VT_DTYPE_BF16:
      each_16(data, n, vt_canonical_bf16);
      break;
    case VT_DTYPE_BOOL:
      each_bool(data, n);
      break;
    default:
      break; /* integers have no second pattern for a value */
  }
}
