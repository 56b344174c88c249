/* SPDX-License-Identifier: Apache-2.0
 * far_rows_test.h - test rows for softmax and similar ops, whose elements are far apart. Their
 * results are subnormal or 0, quotients of tiny numbers, infinities, or only NaN. */
#ifndef VT_FAR_ROWS_TEST_H
#define VT_FAR_ROWS_TEST_H
#include "vt_num.h"

enum { FAR_ROWS = 40 };

/* Writes FAR_ROWS rows of n elements each to x. */
static inline void write_far_rows(float *x, int row_length) {
  const float infinity = vt_f32_from_bits(0x7f800000u), none = vt_f32_from_bits(0x7fc00000u);
  uint64_t seed = 77;
  for (int i = 0; i < FAR_ROWS * row_length; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x[i] = -(float)((seed >> 24) % 140000) / 1000.0f;
  }
  for (int i = 0; i < row_length; i++) {
    x[1 * row_length + i] = -infinity;
    x[2 * row_length + i] = i == 5 ? infinity : (float)i;
    x[3 * row_length + i] = none;
    x[4 * row_length + i] = i == 7 ? vt_f32_from_bits(0xffc00001u) : -infinity;
    x[5 * row_length + i] = i % 2 == 0 ? -0.0f : 0.0f;
    x[6 * row_length + i] = i < 3 ? 1e30f : -infinity;
    x[7 * row_length + i] = i == 0 ? 2.0f : 2.0f - 95.0f - (float)i * 5 / (float)row_length;
    x[8 * row_length + i] = i == 0 ? -0.0f : -200.0f;
    x[9 * row_length + i] = i == 5 ? infinity : none;
  }
}
#endif
