/* SPDX-License-Identifier: Apache-2.0
 * pow_pairs.h - the pairs on which pow is compared, by number; host and device compile the same
 * code. */
#ifndef VT_POW_PAIRS_H
#define VT_POW_PAIRS_H
#include <stdint.h>
#ifndef PAIRS_FN
#define PAIRS_FN static inline
#endif

/* the random generator SplitMix64, applied to the number */
PAIRS_FN uint64_t mix_pair_number(uint64_t number) {
  uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Bit patterns of x (low half) and y (high half). Of every four pairs, one has two arbitrary
 * patterns: every exponent, sign and special value. One has x in [2^-8, 2^8) and |y| in [2^-6,
 * 2^6): ordinary results. One has x near 1 and a large y. One has few bits in both, so that exact
 * results and midpoints of two f32 occur. */
PAIRS_FN uint64_t pow_pair_bits(uint64_t number) {
  const uint64_t r = mix_pair_number(number);
  const uint32_t a = (uint32_t)r, b = (uint32_t)(r >> 32);
  uint32_t x = a, y = b;
  switch (number & 3) {
    case 1:
      x = (a & 0x7fffff) | (119 + (a >> 23) % 16) << 23;
      y = (b & 0x807fffff) | (121 + (b >> 23 & 255) % 12) << 23;
      break;
    case 2:
      x = 0x3f800000u + (a & 0xfffff) - 0x80000;
      y = (b & 0x807fffff) | (127 + (b >> 23 & 255) % 16) << 23;
      break;
    case 3:
      x = (a & 0x807e0000) | (107 + (a >> 23 & 255) % 40) << 23;
      y = (b & 0x80700000) | (124 + (b >> 23 & 255) % 9) << 23;
      break;
    default:
      break;
  }
  return (uint64_t)y << 32 | x;
}
#endif
