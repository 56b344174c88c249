/* SPDX-License-Identifier: Apache-2.0
 * philox.c - Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", 2011) and the numbers drawn from it. A pure function of seed, stream, step and index: any
 * element can be drawn alone, and there is no state anywhere. */
#include "vt_num.h"

static uint32_t high(uint64_t x) { return (uint32_t)(x >> 32); }
static uint32_t low(uint64_t x) { return (uint32_t)x; }

/* One round: two 32x32 products, their halves crossed over, the key mixed in. */
static void mix(uint32_t x[4], const uint32_t key[2]) {
  const uint64_t p = (uint64_t)0xd2511f53u * x[0], q = (uint64_t)0xcd9e8d57u * x[2];
  x[0] = high(q) ^ x[1] ^ key[0];
  x[2] = high(p) ^ x[3] ^ key[1];
  x[1] = low(q);
  x[3] = low(p);
}

void vt_philox(uint64_t seed, uint32_t stream, uint32_t step, uint64_t block, uint32_t out[4]) {
  uint32_t key[2] = {low(seed), high(seed)};
  out[0] = low(block), out[1] = high(block), out[2] = stream, out[3] = step;
  for (int round = 0; round < 10; round++) {
    mix(out, key);
    key[0] += 0x9e3779b9u; /* the golden ratio and sqrt(3) - 1, as fractions of 2^32 */
    key[1] += 0xbb67ae85u;
  }
}

/* (w >> 8) * 2^-24: 24 bits, exact. */
static float fraction(uint32_t w) { return (float)(w >> 8) * 0x1p-24f; }

float vt_philox_uniform(const uint32_t words[4], uint64_t i) { return fraction(words[i % 4]); }

/* Box and Muller: words (0,1) serve elements 0 and 1 of the block, words (2,3) elements 2 and 3.
 *   u = ((w_even >> 8) + 1) * 2^-24, in (0, 1]: its logarithm is finite
 *   t = (w_odd >> 8) * 2^-24;  R = sqrt(-2 * log(u));  A = t * 2pi;  R * cos(A), R * sin(A)
 * Each operation is one f32 rounding. */
float vt_philox_normal(const uint32_t words[4], uint64_t i) {
  const uint32_t *pair = &words[i % 4 / 2 * 2];
  const float two_pi = vt_f32_from_bits(0x40c90fdbu);
  const float u = (float)((pair[0] >> 8) + 1) * 0x1p-24f;
  const float radius = vt_f32_sqrt(-2.0f * vt_f32_log(u));
  const float angle = fraction(pair[1]) * two_pi;
  return radius * (i % 2 == 0 ? vt_f32_cos(angle) : vt_f32_sin(angle));
}
