/* SPDX-License-Identifier: Apache-2.0
 * philox.c - random numbers (philox.inc), compiled as scalar C11. */
#include "vt_num.h"
#include "vt_core.h"

/* Calls the functions compiled in functions.c instead of compiling them again. */
VT_FN vt_s vt_s_log(vt_s x) { return vt_f32_log(x); }
VT_FN vt_s vt_s_sin(vt_s x) { return vt_f32_sin(x); }
VT_FN vt_s vt_s_cos(vt_s x) { return vt_f32_cos(x); }
#include "philox.inc"

void vt_philox(uint64_t seed, uint32_t stream, uint32_t step, uint64_t block, uint32_t out[4]) {
  const vt_four x = vt_philox_block(seed, stream, step, block);
  out[0] = x.w[0], out[1] = x.w[1], out[2] = x.w[2], out[3] = x.w[3];
}

float vt_philox_uniform(const uint32_t words[4], uint64_t i) { return vt_uniform(words[i % 4]); }

float vt_philox_normal(const uint32_t words[4], uint64_t i) {
  const uint32_t *pair = &words[i % 4 / 2 * 2];
  return vt_normal(pair[0], pair[1], (int)(i % 2));
}
