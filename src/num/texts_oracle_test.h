/* SPDX-License-Identifier: Apache-2.0
 * texts_oracle_test.h - the scalar oracle of the tests of shared texts: oracle_NAME gives the
 * result of the library (vt_num.h) for the operands of a row of texts.def; likewise for casts and
 * random numbers (`draw` as in texts_test.inc: words, uniform, normal). Shifts, which the library
 * does not have, are restated here. */
#ifndef VT_TEXTS_ORACLE_TEST_H
#define VT_TEXTS_ORACLE_TEST_H
#include <string.h>
#include "vt_num.h"

static inline float pattern_to_f32(uint64_t x) { return vt_f32_from_bits((uint32_t)x); }
static inline double pattern_to_f64(uint64_t x) { return vt_f64_from_bits(x); }
static inline uint64_t f32_to_pattern(float y) { return y != y ? 0x7fc00000u : vt_f32_bits(y); }
static inline uint64_t f64_to_pattern(double y) {
  return y != y ? UINT64_C(0x7ff8000000000000) : vt_f64_bits(y);
}

#define ORACLE(name) static inline uint64_t oracle_##name(uint64_t a, uint64_t b, uint64_t c)
#define UNUSED(x) (void)(x)
ORACLE(fma_f32) {
  return f32_to_pattern(vt_f32_fma_soft(pattern_to_f32(a), pattern_to_f32(b), pattern_to_f32(c)));
}
ORACLE(fma_f64) {
  return f64_to_pattern(vt_f64_fma_soft(pattern_to_f64(a), pattern_to_f64(b), pattern_to_f64(c)));
}
ORACLE(fma_word_f32) {
  return f32_to_pattern(vt_f32_fma(pattern_to_f32(a), pattern_to_f32(b), pattern_to_f32(c)));
}
ORACLE(fma_word_f64) {
  return f64_to_pattern(vt_f64_fma(pattern_to_f64(a), pattern_to_f64(b), pattern_to_f64(c)));
}
ORACLE(root_f32) { return UNUSED(b), UNUSED(c), f32_to_pattern(vt_f32_sqrt(pattern_to_f32(a))); }
ORACLE(root_f64) { return UNUSED(b), UNUSED(c), f64_to_pattern(vt_f64_sqrt(pattern_to_f64(a))); }
ORACLE(max_f32) {
  return UNUSED(c), f32_to_pattern(vt_f32_max(pattern_to_f32(a), pattern_to_f32(b)));
}
ORACLE(min_f32) {
  return UNUSED(c), f32_to_pattern(vt_f32_min(pattern_to_f32(a), pattern_to_f32(b)));
}
ORACLE(above_f32) {
  return UNUSED(c), (uint64_t)vt_f32_above(pattern_to_f32(a), pattern_to_f32(b));
}
ORACLE(max_f64) {
  return UNUSED(c), f64_to_pattern(vt_f64_max(pattern_to_f64(a), pattern_to_f64(b)));
}
ORACLE(min_f64) {
  return UNUSED(c), f64_to_pattern(vt_f64_min(pattern_to_f64(a), pattern_to_f64(b)));
}
ORACLE(above_f64) {
  return UNUSED(c), (uint64_t)vt_f64_above(pattern_to_f64(a), pattern_to_f64(b));
}
ORACLE(add) { return UNUSED(c), (uint64_t)vt_i64_wrap_add((int64_t)a, (int64_t)b); }
ORACLE(sub) { return UNUSED(c), (uint64_t)vt_i64_wrap_sub((int64_t)a, (int64_t)b); }
ORACLE(mul) { return UNUSED(c), (uint64_t)vt_i64_wrap_mul((int64_t)a, (int64_t)b); }
ORACLE(div) { return UNUSED(c), (uint64_t)vt_i64_div((int64_t)a, (int64_t)b); }
ORACLE(mod) { return UNUSED(c), (uint64_t)vt_i64_mod((int64_t)a, (int64_t)b); }
/* shl is the product with 2^b, and shr the quotient by 2^b rounded down; b above 63 as in
 * integer.inc. */
ORACLE(shl) { return UNUSED(c), b > 63 ? 0 : a << b; }
ORACLE(shr) {
  const uint64_t minus = a >> 63 != 0 ? UINT64_MAX : 0;
  return UNUSED(c), b > 63 ? minus : (a ^ minus) >> b ^ minus;
}

static inline uint64_t oracle_canonical(uint64_t a, uint32_t dtype, size_t size) {
  uint64_t y = 0;
  memcpy(&y, &a, size); /* copies the low bytes of a, which come first */
  vt_canonical(&y, dtype, 1);
  return y;
}
ORACLE(canonical_f32) { return UNUSED(b), UNUSED(c), oracle_canonical(a, 1, 4); }
ORACLE(canonical_f64) { return UNUSED(b), UNUSED(c), oracle_canonical(a, 2, 8); }
ORACLE(canonical_f16) { return UNUSED(b), UNUSED(c), oracle_canonical(a, 8, 2); }
ORACLE(canonical_bf16) { return UNUSED(b), UNUSED(c), oracle_canonical(a, 9, 2); }
ORACLE(canonical_bool) { return UNUSED(b), UNUSED(c), oracle_canonical(a, 7, 1); }
#undef UNUSED
#undef ORACLE

static inline uint64_t oracle_cast(uint64_t x, uint32_t from, uint32_t to) {
  uint64_t y = 0;
  vt_cast(&x, 1, from, &y, 1, to, 1);
  return y;
}

static inline uint64_t oracle_random(uint64_t block, uint64_t seed, int draw) {
  const uint64_t e = (uint64_t)(draw & 3);
  uint32_t w[4];
  vt_philox(seed, (uint32_t)(seed >> 7), (uint32_t)(seed >> 21), block, w);
  if (draw < 4) return w[e];
  return f32_to_pattern(draw < 8 ? vt_philox_uniform(w, e) : vt_philox_normal(w, e));
}
#endif
